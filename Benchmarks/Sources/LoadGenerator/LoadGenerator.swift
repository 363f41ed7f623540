import Glibc
import MartletHTTP
import MartletNetwork

/// Loads a server through the batch API of the network.
///
///     LoadGenerator pushes PORT CA-FILE COUNT TOKEN PAYLOAD
///     LoadGenerator registrations PORT HUB COUNT AUTHORIZATION
///
/// Prints a line "DONE SECONDS CPU-SECONDS".
@main
enum LoadGenerator {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let client = HTTPClient(loops: try EventLoopGroup(count: 1))
        switch (arguments.dropFirst().first, arguments.count) {
        case ("pushes", 7):
            let load = PushLoad(
                client: client, port: port(arguments[2]), authority: try text(of: arguments[3]), token: arguments[5],
                payload: Array(arguments[6].utf8))
            await load.warmUp()
            await measure { await load.send(number(arguments[4])) }
        case ("registrations", 6):
            let load = RegistrationLoad(
                client: client, port: port(arguments[2]), hub: arguments[3], authorization: arguments[5])
            await measure { await load.register(number(arguments[4])) }
        default: fail("usage: LoadGenerator pushes PORT CA-FILE COUNT TOKEN PAYLOAD")
        }
        await client.shutDown()
    }

    /// - Parameter work: Tells how much was done.
    private static func measure(_ work: @Sendable () async -> Int) async {
        let start = (time: ContinuousClock.now, cpu: cpuTime)
        let done = await work()
        print(done, (ContinuousClock.now - start.time) / .seconds(1), cpuTime - start.cpu)
    }

    private static var cpuTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func port(_ text: String) -> UInt16 {
        guard let port = UInt16(text) else { fail("not a port: \(text)") }
        return port
    }

    private static func number(_ text: String) -> Int {
        guard let number = Int(text) else { fail("not a number: \(text)") }
        return number
    }

    private static func text(of path: String) throws -> String {
        guard let file = fopen(path, "r") else { fail("cannot be read: \(path)") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 64 * 1024)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    static func fail(_ message: String) -> Never {
        let line = Array("LoadGenerator: \(message)\n".utf8)
        write(STDERR_FILENO, line, line.count)
        exit(1)
    }
}
