//! Memory: the C library gives each thread that allocates a heap of its own, and a thread waits for each call under way.
//!
//! How many heaps there are is read from the environment when a program starts, and setting it afterwards takes unsafe
//! code. So a program that is about to have many threads starts itself once more, in its own place.

/// Starts this program again with few heaps, unless somebody has said how many there are. It only comes back when that is
/// no use or did not work: more memory is no reason not to go on.
pub fn with_few_heaps() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::os::unix::process::CommandExt as _;
        // How many are enough: the work of one thread is short, that of the others waits.
        let (name, few) = ("MALLOC_ARENA_MAX", "2");
        if std::env::var_os(name).is_some() {
            return;
        }
        let mut arguments = std::env::args_os();
        let Some(called) = arguments.next() else { return };
        let Ok(program) = std::env::current_exe() else { return };
        let mut command = std::process::Command::new(program);
        let _ = command.arg0(called).args(arguments).env(name, few).exec();
    }
}
