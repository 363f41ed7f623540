import Glibc
import MartletModel
import MartletServer

/// The commands `martlet backup` and `martlet restore`, which save a data directory in one file and restore it.
enum BackupCommands {
    static let all = [backup, restore]

    static let backup = Command(
        "backup", operands: ["[FILE]"],
        "Write all data of the server to a new file, whether or not the server runs. The server's keys are only in it "
            + "with --with-key.",
        options: [
            .data, .adminSocket,
            Option("directory", "DIR", "Write a file named by the time into this directory, instead of FILE."),
            Option(
                "keep", "N", "With --directory: remove all but the newest N backups, once the new one was verified."),
            Option(
                "with-key", nil,
                "Also put secret.key into the backup: anyone who reads the file can then read every secret."),
        ]
    ) { invocation in
        let directory = invocation["directory"]
        let keep = try invocation.count("keep", upTo: 10_000)
        guard (directory == nil) != (invocation.optionalOperand("FILE") == nil) else {
            throw UsageError(description: "Give FILE, or --directory.", command: invocation.command)
        }
        guard keep == nil || directory != nil else {
            throw UsageError(description: "--keep needs --directory.", command: invocation.command)
        }
        if let directory { try BackupName.removeAbandoned(in: directory) }
        let name = directory.map { "\($0)/\(BackupName(SystemTime().now))" }
        let display = ProgressDisplay(.bytes)
        defer { display.end() }
        let file = try NewFile(name ?? invocation.optionalOperand("FILE") ?? "") { display.show($0) }
        let path = invocation.isOn("with-key") ? "/backup?keys=1" : "/backup"
        try await Administration(invocation).download(path, to: file)
        display.end()
        let summary = try BackupFile.check(file.temporary)
        try file.complete()
        if let directory, let keep { try BackupName.removeOlder(in: directory, keeping: keep) }
        Terminal.print("\(file.path): the server at \(summary.createdAt.iso8601).")
        if !summary.holdsKeys {
            Terminal.print("The server's keys are not in it: keep a copy of secret.key elsewhere.")
        }
    }

    static let restore = Command(
        "restore", operands: ["FILE"],
        "Make a data directory from a backup: --data names an empty directory, or a new one.",
        options: [
            .data,
            Option(
                "check", nil,
                "Make it in a temporary directory (TMPDIR, or /var/tmp), examine it and remove it: exit 0, or 1 if a server "
                    + "could not use it.", isFlagAlone: true),
            Option("key-file", "FILE", "With --check: the secret.key of the server, if the backup has none."),
        ]
    ) { invocation in
        if invocation.isOn("check") { return try await RestoreCheck(invocation).run() }
        guard invocation["key-file"] == nil else {
            throw UsageError(description: "--key-file needs --check.", command: invocation.command)
        }
        let data = invocation["data"] ?? "data"
        let isNew = access(data, F_OK) != 0
        let display = ProgressDisplay(.bytes)
        defer { display.end() }
        let summary = try BackupFile.restore(invocation.operand("FILE"), into: data) {
            // The total is 0 if the backup is read from a pipe and its size is not known. Then no total is shown.
            display.show($0, of: $1 > 0 ? $1 : nil)
        }
        display.end()
        if isNew, let advice = DirectoryOwner(of: data)?.advice(onNew: data) { Terminal.complain("martlet: \(advice)") }
        Terminal.print("\(data): the server at \(summary.createdAt.iso8601).")
        if !summary.holdsKeys {
            Terminal.print(
                "The server's keys are not in the backup: before the server starts, put its secret.key there, or set "
                    + "MARTLET_SECRET_KEY.")
        }
    }
}
