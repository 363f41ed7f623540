import Glibc
import MartletModel
import MartletServer
import Synchronization

/// `martlet import` and `martlet export`: read and write the registrations of a hub as lines of a file, in the format
/// of Azure's jobs.
enum TransferCommands {
    static let all = [importing, exporting]

    static let importing = Command(
        "import", operands: ["HUB", "FILE"],
        "Register what a file has: a registration on each line, as an export wrote it, here or at Azure. - reads standard "
            + "input. A compressed file (gzip) is known by its content.",
        options: [
            .data, .adminSocket,
            Option(
                "create-only", nil,
                "Make a new registration of every line, with an id of its own, instead of updating the one with the line's id."
            ),
            Option("failed", "FILE", "A new file for the lines that were refused: number and reason."),
            .json("status, imported, failed; failure"), .quiet,
        ]
    ) { invocation in
        let (hub, path) = (invocation.operand("HUB"), invocation.operand("FILE"))
        let source = try InputFile(path)
        let failures = try invocation["failed"].map { try NewFile($0) }
        let (imported, failed) = (LineCount(), LineCount())
        let result = try await transfer(invocation, hub) { transfer, progress in
            try await transfer.upload(source.read)
            let type = invocation.isOn("create-only") ? "ImportCreateRegistrations" : "ImportUpsertRegistrations"
            let result = try await transfer.run(type, progress: progress)
            try await transfer.download("Output.txt", of: result) { bytes in
                imported.add(bytes)
                return true
            }
            try await transfer.download("Failed.txt", of: result) { bytes in
                failed.add(bytes)
                return failures?.take(bytes) ?? true
            }
            return result
        }
        try failures?.complete()
        var object: [String: JSON] = [
            "status": .string(result.status), "imported": .integer(imported.count), "failed": .integer(failed.count),
        ]
        if let failure = result.failure { object["failure"] = .string(failure) }
        if !invocation.printJSON(.object(object)) {
            invocation.report("Imported \(imported.count.grouped) registrations into '\(hub)'.")
        }
        guard result.status == "Completed" else { throw ServerError(result.failure ?? "The import failed.") }
        guard failed.count == 0 else {
            let lines = failed.count == 1 ? "One line was refused" : "\(failed.count.grouped) lines were refused"
            let place = invocation["failed"].map { "see \($0)" } ?? "--failed FILE keeps their numbers and the reasons"
            throw ServerError("\(lines): \(place).")
        }
    }

    static let exporting = Command(
        "export", operands: ["HUB", "FILE"],
        "Write the registrations of a hub to a new file, a line for each, as 'martlet import' and Azure read it; "
            + "compressed if the name ends in .gz. - writes to standard output. The file has the handles of all devices.",
        options: [.data, .adminSocket, .quiet]
    ) { invocation in
        let (hub, path) = (invocation.operand("HUB"), invocation.operand("FILE"))
        let output = try ExportFile(path)
        let exported = LineCount()
        let result = try await transfer(invocation, hub) { transfer, progress in
            let result = try await transfer.run("ExportRegistrations", progress: progress)
            guard result.status == "Completed" else { return result }
            try await transfer.download("Output.txt", of: result) { bytes in
                exported.add(bytes)
                return output.take(bytes)
            }
            return result
        }
        guard result.status == "Completed" else { throw ServerError(result.failure ?? "The export failed.") }
        try output.complete()
        invocation.report("Exported \(exported.count.grouped) registrations of '\(hub)'.")
    }

    /// Runs an import or export with a storage container of its own, which is always removed at the end.
    private static func transfer(
        _ invocation: Invocation, _ hub: String,
        _ work: (HubTransfer, (Double) -> Void) async throws -> HubTransfer.Result
    ) async throws -> HubTransfer.Result {
        let transfer = try await HubTransfer(try Administration(invocation), hub: hub)
        let display = ProgressDisplay(.percent)
        do {
            let result = try await work(transfer) { display.show(Int64($0), of: 100) }
            display.end()
            try await transfer.end()
            return result
        } catch {
            display.end()
            try? await transfer.end()
            throw error
        }
    }
}

/// The destination of an export: a new file, compressed if its name ends in `.gz`, or standard output.
private final class ExportFile: Sendable {
    private let file: NewFile?
    private let gzip: Mutex<GzipWriter?>

    /// - Parameter path: The path of the file, or `-` for standard output.
    init(_ path: String) throws(ServerError) {
        file = path == "-" ? nil : try NewFile(path)
        gzip = Mutex(path.hasSuffix(".gz") ? try GzipWriter() : nil)
    }

    /// Writes the next bytes, compressed if the file is.
    /// - Returns: Whether the bytes were written.
    func take(_ bytes: [UInt8]) -> Bool { write(gzip.withLock { $0?.compress(bytes) } ?? bytes) }

    func complete() throws(ServerError) {
        if let rest = gzip.withLock({ $0?.compress([], isLast: true) }) { _ = write(rest) }
        try file?.complete()
    }

    private func write(_ bytes: [UInt8]) -> Bool { file?.take(bytes) ?? Terminal.write(bytes) }
}

/// Counts lines in the pieces of a file.
private final class LineCount: Sendable {
    private let lines = Atomic<Int64>(0)

    var count: Int64 { lines.load(ordering: .relaxed) }

    func add(_ bytes: [UInt8]) {
        lines.add(Int64(bytes.count { $0 == UInt8(ascii: "\n") }), ordering: .relaxed)
    }
}
