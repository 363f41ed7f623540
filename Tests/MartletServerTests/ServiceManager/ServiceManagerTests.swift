import Foundation
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletServer

struct ServiceManagerTests {
    /// Plays systemd: a datagram socket, at a path or in the abstract namespace.
    private final class Manager: Sendable {
        let descriptor: Int32

        init(_ path: String) throws {
            var bytes = Array(path.utf8)
            if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
            let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
            }
            try #require(result == 0)
        }

        deinit { close(descriptor) }

        func receive() -> String {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }
    }

    private func manager(_ environment: [String: String]) -> ServiceManager {
        ServiceManager(environment: { environment[$0] }, process: 42)
    }

    @Test(arguments: [true, false])
    func datagramsReachTheSocketOfTheEnvironment(isAbstract: Bool) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "notify-\(UUID().uuidString)").path()
        let name = isAbstract ? "@" + path : path
        let systemd = try Manager(name)
        defer { unlink(path) }
        let manager = manager(["NOTIFY_SOCKET": name])
        manager.tell(.ready)
        #expect(systemd.receive() == "READY=1")
        manager.tell(.reloading(monotonic: .milliseconds(1500)))
        #expect(systemd.receive() == "RELOADING=1\nMONOTONIC_USEC=1500000")
        manager.tell(.status("waits: no room\nREADY=1"))
        #expect(systemd.receive() == "STATUS=waits: no room")
        manager.tell(.extend(by: .seconds(30)))
        #expect(systemd.receive() == "EXTEND_TIMEOUT_USEC=30000000")
    }

    @Test(arguments: ["", "@", "relative", "/" + String(repeating: "x", count: 107), "/run/martlet-no-socket"])
    func aSocketThatCannotBeUsedIsNoReasonToStop(path: String) {
        manager(["NOTIFY_SOCKET": path]).tell(.ready)
    }

    @Test func theWatchdogIsHeardOfOnlyByTheProcessThatIsMeant() {
        let environment = ["NOTIFY_SOCKET": "/run/none", "WATCHDOG_USEC": "60000000"]
        #expect(manager(environment).watchdog == .seconds(60))
        #expect(manager(environment.merging(["WATCHDOG_PID": "42"]) { $1 }).watchdog == .seconds(60))
        #expect(manager(environment.merging(["WATCHDOG_PID": "43"]) { $1 }).watchdog == nil)
        #expect(manager(environment.merging(["WATCHDOG_USEC": "0"]) { $1 }).watchdog == nil)
        #expect(manager(["WATCHDOG_USEC": "60000000"]).watchdog == nil, "nobody listens")
    }
}

struct ServiceReportTests {
    private let time = ManualTimeSource()

    private final class Heard: Sendable {
        let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock(\.self).sorted() }
        func clear() { lines.withLock { $0 = [] } }
        func manager(watchdog: Duration?) -> ServiceManager {
            ServiceManager(watchdog: watchdog) { notification in self.lines.withLock { $0.append(notification.text) } }
        }
    }

    @Test func aTurningServerIsAliveAtHalfOfTheIntervalAndItsStatusIsToldWhereItChanged() async {
        let heard = Heard()
        let status = Mutex("serves 1 hub")
        let report = ServiceReport(
            manager: heard.manager(watchdog: .seconds(60)), time: time, turn: {}, status: { status.withLock(\.self) })
        await withTaskGroup { group in
            group.addTask { await report.run() }
            await time.untilSleeping(2)
            #expect(heard.all == ["STATUS=serves 1 hub", "WATCHDOG=1"])
            heard.clear()
            time.advance(by: .seconds(30))
            await time.untilSleeping(2)
            #expect(heard.all == ["WATCHDOG=1"])
            status.withLock { $0 = "waits" }
            heard.clear()
            time.advance(by: .seconds(30))
            await time.untilSleeping(2)
            #expect(heard.all == ["STATUS=waits", "WATCHDOG=1"])
            group.cancelAll()
        }
    }

    @Test func aLoopThatDoesNotTurnIsNotReportedAlive() async {
        let heard = Heard()
        let (hung, go) = AsyncStream.makeStream(of: Void.self)
        let report = ServiceReport(
            manager: heard.manager(watchdog: .seconds(60)), time: time, turn: { for await _ in hung {} },
            status: { "serves" })
        await withTaskGroup { group in
            group.addTask { await report.run() }
            await time.untilSleeping(1)
            time.advance(by: .seconds(59))
            #expect(heard.all == ["STATUS=serves"])
            go.finish()
            await time.untilSleeping(2)
            #expect(heard.all == ["STATUS=serves", "WATCHDOG=1"])
            group.cancelAll()
        }
    }
}
