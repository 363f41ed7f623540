import MartletCore
import MartletModel

/// Reports to the service manager that the server is alive.
///
/// Once a minute, it also reports what the server is doing, if that has changed.
struct ServiceReport: Sendable {
    private static let statusInterval: Duration = .seconds(60)

    let manager: ServiceManager
    let time: any TimeSource
    /// Returns when every event loop and the database writer have completed one cycle.
    ///
    /// If one of them hangs, this function does not return. The service manager then receives nothing more and ends the
    /// process.
    let turn: @Sendable () async -> Void
    let status: @Sendable () async -> String

    /// Reports to the service manager until the task is cancelled.
    func run() async {
        await withTaskGroup { group in
            group.addTask { await reportStatus() }
            if let interval = manager.watchdog { group.addTask { await reportTurns(every: interval / 2) } }
        }
    }

    private func reportTurns(every interval: Duration) async {
        while !Task.isCancelled {
            await turn()
            manager.tell(.alive)
            try? await time.sleep(until: time.now + interval)
        }
    }

    private func reportStatus() async {
        var last: String?
        while !Task.isCancelled {
            let status = await status()
            if status != last { manager.tell(.status(status)) }
            last = status
            try? await time.sleep(until: time.now + Self.statusInterval)
        }
    }
}
