import FuzzDriver
import MartletCore
import MartletPush

@testable import MartletModel

/// Input: the JSON of a composed message. Checks that an accepted message, written as JSON, is parsed to the same message,
/// and that the payload that each platform renders shows its texts. The input is also read as a payload of each platform,
/// which must not crash.
@main
struct FuzzMessage {
    static func main() {
        fuzz { bytes, count in
            let input = Array(UnsafeBufferPointer(start: bytes, count: count))
            for platform in PushPlatforms.all {
                let message = platform.normalized(Message(body: input), at: Timestamp(seconds: 0))
                _ = platform.appearance(of: message)
            }
            guard let message = try? ComposedMessage(parsing: input) else { return 0 }
            precondition(
                (try? ComposedMessage(parsing: message.json.bytes)) == message, "a message survives its writing")
            for index in 0..<message.languages.count {
                let tags = message.languages.tags
                FuzzMessage.check(message.localized(in: tags.indices.contains(index) ? tags[index] : nil))
            }
            return 0
        }
    }

    private static func check(_ message: LocalizedMessage) {
        guard message.title != nil || message.text != nil || message.isSilent else { return }
        for platform in PushPlatforms.all {
            // Payloads above the reader's limit are refused for their size.
            guard let rendered = platform.message(composed: message, id: NotificationID(high: 1, low: 2)),
                rendered.body.count <= 65_536
            else { continue }
            let normalized = platform.normalized(rendered, at: Timestamp(seconds: 0))
            guard let appearance = platform.appearance(of: normalized) else {
                preconditionFailure("what \(platform) has rendered cannot be read")
            }
            precondition(appearance.isSilent == message.isSilent, "what is silent stays silent")
            precondition(appearance.title == message.title, "\(platform) shows another title")
            precondition(appearance.text == message.text, "\(platform) shows another text")
        }
    }
}
