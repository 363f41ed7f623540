import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

struct TemplateRendererTests {
    /// Pigeons that note how often templates are taken apart and messages made of them.
    private enum CountedPigeon: PushPlatform {
        static let compiled = Atomic(0)
        static let rendered = Atomic(0)

        static var descriptor: PushPlatformDescriptor { CarrierPigeon.descriptor }

        static func key(of handle: PushHandle) throws(PushServiceError) -> String {
            try CarrierPigeon.key(of: handle)
        }

        static func check(_ message: Message) throws(PushServiceError) {
            rendered.add(1, ordering: .relaxed)
            try CarrierPigeon.check(message)
        }

        static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message {
            try CarrierPigeon.message(showing: text, id: id)
        }

        static func message(carrying data: DataMessage) throws(PushServiceError) -> Message {
            try CarrierPigeon.message(carrying: data)
        }

        static func format(of template: Template) -> TemplateFormat {
            compiled.add(1, ordering: .relaxed)
            return .json
        }
    }

    @Test("A template is compiled once, and rendered once for a notification and the variables that it shows")
    func nothingIsDoneTwice() {
        let greeting = Template(body: #"{"say":"$(msg)"}"#)
        let personal = Template(body: #"{"to":"$(Name)","say":"$(msg)"}"#)
        let renderings = [
            TemplateBinding(id: .init(template: 1, variables: 1), template: greeting, variables: ["name": "An"]),
            TemplateBinding(id: .init(template: 1, variables: 2), template: greeting, variables: ["name": "Bo"]),
            TemplateBinding(id: .init(template: 2, variables: 1), template: personal, variables: ["name": "An"]),
            TemplateBinding(id: .init(template: 2, variables: 2), template: personal, variables: ["name": "Bo"]),
        ]
        let templates = CompiledTemplates()
        for text in ["hi", "ho"] {
            var renderer = TemplateRenderer(
                Array(#"{"msg":"\#(text)"}"#.utf8), on: CountedPigeon.self, at: Timestamp(seconds: 0),
                templates: templates)
            for _ in 0..<5 {
                let bodies = renderings.map { rendering in
                    guard case .message(let message) = renderer.message(for: rendering) else { return "" }
                    return String(decoding: message.body, as: UTF8.self)
                }
                #expect(
                    bodies == [
                        #"{"say":"\#(text)"}"#, #"{"say":"\#(text)"}"#, #"{"to":"An","say":"\#(text)"}"#,
                        #"{"to":"Bo","say":"\#(text)"}"#,
                    ])
            }
        }
        #expect(CountedPigeon.compiled.load(ordering: .relaxed) == 2)
        #expect(CountedPigeon.rendered.load(ordering: .relaxed) == 2 * 3)
    }
}
