import Foundation

/// The app of Examples/Pager, which `Scripts/check-examples` builds with the SDK alone.
final class RunningPager: Sendable {
    static let executable = BuiltProducts.package.appendingPathComponent(".build/pager/debug/Pager")
    static let isBuilt = FileManager.default.isExecutableFile(atPath: executable.path)

    /// Where it keeps what it was sent.
    let folder: URL
    private let process: ChildProcess
    private let input: FileHandle
    private let output: Output

    /// Starts a pager that logs in with the password `password of USER`.
    static func start(
        _ user: String, server: URL, simulator: String, authority: URL, platform: String
    ) throws -> RunningPager {
        // A pager that has ended early is a failed test, not the end of the process that runs them.
        signal(SIGPIPE, SIG_IGN)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pager-\(UUID().uuidString)")
        let input = try ChildPipe()
        let output = try ChildPipe()
        let process = try ChildProcess(
            executable, [server.absoluteString, simulator, user, folder.path, platform],
            environment: ["CURL_CA_BUNDLE": authority.path],
            standard: (
                input: input.reading.fileDescriptor, output: output.writing.fileDescriptor,
                error: FileHandle.standardError.fileDescriptor
            ))
        try input.reading.close()
        try output.writing.close()
        let pager = RunningPager(
            folder: folder, process: process, input: input.writing, output: Output(output.reading))
        try pager.type("password of \(user)")
        return pager
    }

    private init(folder: URL, process: ChildProcess, input: FileHandle, output: Output) {
        self.folder = folder
        self.process = process
        self.input = input
        self.output = output
    }

    func type(_ line: String) throws {
        try input.write(contentsOf: Data((line + "\n").utf8))
    }

    /// The next line that it shows; nil where it ends first.
    func nextLine() async -> String? { await output.nextLine() }

    /// Asks it to log out and end, and removes its folder.
    /// - Returns: Its exit status.
    func quit() async throws -> Int32 {
        try type("quit")
        let rest = await output.nextLine()
        let status = process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
        return rest == nil ? status : -1
    }

    /// Reads lines; reading blocks, so each has a thread of its own.
    private actor Output {
        private let descriptor: Int32
        private let handle: FileHandle

        init(_ handle: FileHandle) {
            self.handle = handle
            descriptor = handle.fileDescriptor
        }

        func nextLine() async -> String? {
            await withCheckedContinuation { [descriptor] continuation in
                Thread.detachNewThread {
                    var line: [UInt8] = []
                    var byte: UInt8 = 0
                    while read(descriptor, &byte, 1) == 1 {
                        if byte == UInt8(ascii: "\n") {
                            return continuation.resume(returning: String(decoding: line, as: UTF8.self))
                        }
                        line.append(byte)
                    }
                    continuation.resume(returning: nil)
                }
            }
        }
    }
}
