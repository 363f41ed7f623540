import MartletClient

/// `martlet keys`: prints the fingerprints of a user's devices, to be compared with the fingerprints that the devices
/// show.
enum KeysCommand {
    static let command = Command(
        "keys", operands: ["NAME"], "Print the fingerprints of a user's devices, and which of them are trusted.",
        options: EncryptingSender.options
    ) { invocation in
        try await EncryptingSender.run(invocation) { sender in
            var keys = try await sender.client.keys(of: invocation.operand("NAME"))
            if try sender.accepts(keys) {
                try await sender.client.trust(keys)
                keys = try await sender.client.keys(of: invocation.operand("NAME"))
            }
            for line in EncryptingSender.lines(keys) { Terminal.print(line) }
        }
    }
}
