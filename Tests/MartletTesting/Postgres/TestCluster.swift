import CMartletProcess
import Glibc

/// A PostgreSQL cluster for the tests. It is started once for the whole run, and removed when the process ends.
public final class TestCluster: Sendable {
    /// The cluster; nil if PostgreSQL cannot be started. The reason is printed.
    public static let shared = TestCluster()

    /// The directory of the server's socket.
    public let directory: String
    /// The write end of a pipe. The cluster runs as long as this end is open.
    private let lifeline: Int32

    /// The address of the cluster's database.
    public var address: String { address(of: "martlet") }

    public func address(of database: String, user: String = "postgres") -> String {
        "postgres://\(user)@/\(database)?host=\(directory)"
    }

    private init?() {
        let script = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        var (input, output): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard martlet_pipe(&input) == 0, martlet_pipe(&output) == 0 else { return nil }
        let path = "/\(script)/Scripts/test-cluster"
        let arguments = [strdup(path), nil]
        defer { free(arguments[0]) }
        var process: pid_t = 0
        guard martlet_spawn(&process, path, arguments, environ, nil, [input[0], output[1], -1]) == 0 else { return nil }
        close(input[0])
        close(output[1])
        let answer = Self.line(of: output[0])
        close(output[0])
        guard answer.hasPrefix("/") else {
            print("tests with PostgreSQL are left out: \(answer.isEmpty ? "it did not start" : answer)")
            close(input[1])
            return nil
        }
        directory = answer
        lifeline = input[1]
    }

    /// Reads the first line of text from a file descriptor.
    private static func line(of descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(descriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
