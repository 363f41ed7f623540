import Glibc
import MartletHTTP
import MartletNetwork

/// Loads a server through the batch API of the network.
///
///     LoadGenerator pushes PORT CA-FILE COUNT TOKEN PAYLOAD LANES LOOPS
///     LoadGenerator platform NAME PORT CA-FILE COUNT LOOPS
///     LoadGenerator request NAME PORT CA-FILE BODY-FILE
///     LoadGenerator encryptions SECONDS PAYLOAD
///
/// Prints a line "DONE SECONDS CPU-SECONDS"; `request` prints a request of the platform's in lines and writes its body.
@main
enum LoadGenerator {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let isWithLoops = ["pushes", "platform"].contains(arguments.dropFirst().first)
        let client = HTTPClient(loops: try EventLoopGroup(count: isWithLoops ? number(arguments.last ?? "") : 1))
        switch (arguments.dropFirst().first, arguments.count) {
        case ("pushes", 9):
            let load = PushLoad(
                client: client, port: port(arguments[2]), authority: try text(of: arguments[3]), token: arguments[5],
                payload: Array(arguments[6].utf8), lanes: number(arguments[7]))
            await load.warmUp()
            await measure { await load.send(number(arguments[4])) }
        case ("platform", 7):
            let load = try platformLoad(client, arguments)
            await load.warmUp()
            await measure { await load.send(number(arguments[5])) }
        case ("request", 6):
            let request = try platformLoad(client, arguments).request()
            print(request.head.joined(separator: "\n"))
            write(request.body, to: arguments[5])
        case ("encryptions", 4):
            let load = try EncryptionLoad(message: Array(arguments[3].utf8))
            try await measure { try load.encrypt(for: .seconds(number(arguments[2]))) }
        default: fail("usage: LoadGenerator pushes|platform|request|encryptions ARGUMENTS")
        }
        await client.shutDown()
        // Not `exit`, which tidies away what OpenSSL keeps for all threads while loops still close connections.
        fflush(nil)
        _exit(EXIT_SUCCESS)
    }

    /// - Parameter work: Tells how much was done.
    private static func measure(_ work: @Sendable () async throws -> Int) async rethrows {
        let start = (time: ContinuousClock.now, cpu: cpuTime)
        let done = try await work()
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

    private static func platformLoad(_ client: HTTPClient, _ arguments: [String]) throws -> PlatformLoad {
        let authority = try text(of: arguments[4])
        return try PlatformLoad(
            client: client, PlatformSample(arguments[2], port: port(arguments[3]), authority: authority))
    }

    private static func write(_ bytes: [UInt8], to path: String) {
        guard let file = fopen(path, "w") else { fail("cannot be written: \(path)") }
        defer { fclose(file) }
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { fail("cannot be written: \(path)") }
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
        Glibc.write(STDERR_FILENO, line, line.count)
        exit(1)
    }
}
