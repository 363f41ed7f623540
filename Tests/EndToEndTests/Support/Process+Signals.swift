import Foundation

extension Process {
    /// Runs the program with no signal blocked. The threads that tests run on block most signals and a program inherits
    /// that, so that it would never see a SIGTERM.
    func runWithSignals() throws {
        var none = sigset_t()
        var before = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try run()
    }
}
