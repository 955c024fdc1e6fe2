//! Types that every room uses: ids, names, models, roles, limits, and readers of untrusted text.

pub mod answer;
pub mod base64;
pub mod ceiling;
pub mod delivery;
pub mod ending;
pub mod id;
pub mod json;
pub mod material;
pub mod model;
pub mod name;
pub mod role;
pub mod spelling;
pub mod vocabulary;
pub mod window;
pub mod yaml;
