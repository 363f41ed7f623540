import MartletClient
import MartletServer

/// `martlet notify --encrypt`: sends a message that only the recipient's devices can read.
enum EncryptedSendCommand {
    static let command = Command(
        "notify --encrypt", operands: ["TEXT"],
        "Encrypt a text for every device of a user and send it; only these devices can read it.",
        options: [
            Option("to", "NAME", "Whose devices read it."),
            Option("message", "TEXT", "The text for devices that cannot decrypt; it is not encrypted."),
        ] + EncryptingSender.options
    ) { invocation in
        let recipient = try invocation.required("to")
        try await EncryptingSender.run(invocation) { sender in
            let keys = try await sender.trustedKeys(of: recipient)
            let deliveries = try await sender.client.sendEncrypted(
                invocation.operand("TEXT"), to: recipient, message: invocation["message"])
            if keys.isFirstUse {
                Terminal.complain("martlet: these are the first keys of \(recipient) here; compare their fingerprints:")
                for line in EncryptingSender.lines(keys) { Terminal.complain("  \(line)") }
            }
            for delivery in deliveries {
                let way = delivery.storedID.map { "by id \($0)" } ?? "in the push"
                Terminal.print(Terminal.singleLine("\(delivery.device)  \(way)"))
            }
        }
    }
}
