import MartletCore
import MartletModel
import Testing

@testable import MartletPush

/// Templates none of whose messages a platform would take.
struct TemplateSizeTests {
    /// What each platform needs besides the text, in which `@` stands for as many bytes as a test wants.
    private static func template(_ text: String, on platform: any PushPlatform.Type) -> Template {
        switch platform.descriptor.platform.rawValue {
        case "wns": Template(body: "<toast><text>\(text)</text></toast>")
        case "mpns":
            Template(body: "<t>\(text)</t>", headers: [Template.Header(name: "X-NotificationClass", value: "2")])
        case "fcmv1": Template(body: #"{"message":{"data":{"a":"\#(text)"}}}"#)
        case "gcm": Template(body: #"{"data":{"a":"\#(text)"}}"#)
        case "apns": Template(body: #"{"aps":{"alert":"\#(text)"}}"#)
        default: Template(body: #"{"a":"\#(text)"}"#)
        }
    }

    private func refusal(of template: Template, on platform: any PushPlatform.Type) -> String? {
        do throws(PushServiceError) {
            _ = try platform.prepared(template)
            return nil
        } catch {
            return error.kind == .badTemplate ? error.description : "another kind: \(error)"
        }
    }

    @Test func aTemplateWhoseConstantPartNoMessageCanHoldIsRefusedWithBothSizes() throws {
        for platform in PushPlatforms.all {
            let limit = platform.payloadLimit(of: Self.template("", on: platform))
            let text = String(repeating: "x", count: 55_000)
            let sentence = try #require(refusal(of: Self.template(text, on: platform), on: platform))
            #expect(sentence.contains("constant part makes a payload of 55"), "\(sentence)")
            #expect(sentence.contains("takes at most \(limit)."), "\(sentence)")
        }
    }

    @Test func aTemplateWithinThePlatformsLimitIsNotRefused() throws {
        for platform in PushPlatforms.all {
            let limit = platform.payloadLimit(of: Self.template("", on: platform))
            let empty = CompiledSize.of(Self.template("", on: platform), on: platform)
            let fitting = String(repeating: "x", count: limit - empty)
            #expect(refusal(of: Self.template(fitting, on: platform), on: platform) == nil)
            #expect(refusal(of: Self.template(fitting + "x", on: platform), on: platform) != nil)
        }
    }

    @Test func filledInPropertiesDoNotCount() {
        let long = "$(\(String(repeating: "n", count: 100)):{\(String(repeating: "x", count: 20_000))})"
        for platform in PushPlatforms.all {
            #expect(refusal(of: Self.template(long, on: platform), on: platform) == nil)
        }
    }

    @Test(
        "APNs: voice calls may be larger, and an expression may make any push one",
        arguments: [
            ("apns-push-type", "voip", true), ("apns-push-type", "alert", false), ("apns-push-type", "$(type)", true),
            ("apns-topic", "example.app.voip", true), ("apns-topic", "example.app", false),
        ])
    func theLimitIsThatOfThePushType(name: String, value: String, fits: Bool) {
        var template = Self.template(String(repeating: "x", count: 4500), on: APNs.self)
        template.headers = [Template.Header(name: name, value: value)]
        #expect((refusal(of: template, on: APNs.self) == nil) == fits)
    }

    @Test("FCM counts names and values of what devices receive, and nothing else of a body")
    func uncountedBytesOfATemplateDoNotRefuseIt() {
        let spaces = String(repeating: " ", count: 6000)
        for platform in [FCM.self, LegacyFCM.self] as [any PushPlatform.Type] {
            var template = Self.template("x", on: platform)
            template.body.insert(contentsOf: spaces, at: template.body.index(after: template.body.startIndex))
            #expect(refusal(of: template, on: platform) == nil)
        }
    }

    @Test func aTemplateThatIsStoredAlreadyIsNotRefusedForItsSize() throws {
        let large = Self.template(String(repeating: "x", count: 55_000), on: APNs.self)
        #expect(try APNs.prepared(large, isStored: true) == large)
    }
}

private enum CompiledSize {
    /// The smallest payload of a template.
    static func of(_ template: Template, on platform: any PushPlatform.Type) -> Int {
        guard let compiled = try? CompiledTemplate(template, format: platform.format(of: template)) else { return 0 }
        return platform.payloadSize(of: Message(body: compiled.constantPart.body))
    }
}
