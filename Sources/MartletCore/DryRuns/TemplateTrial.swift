import MartletModel

/// Renders templates, checks the resulting messages, and collects their problems.
struct TemplateTrial: Sendable {
    private struct Problem: Hashable {
        var template: String
        var sentence: String
    }

    /// The maximum number of problems that are reported for each platform.
    private static let problemLimit = 50

    private var renderer: TemplateRenderer
    private let trial: RequestTrial
    private let platform: any PushPlatform.Type
    private var pushes: [Problem: Int] = [:]
    /// The problems, in the order in which they were found.
    private var order: [Problem] = []
    private var furtherPushes = 0
    private(set) var use: DryRun.PropertyUse

    init(_ renderer: TemplateRenderer, _ trial: RequestTrial, on platform: any PushPlatform.Type) {
        self.renderer = renderer
        use = DryRun.PropertyUse(sent: renderer.propertyNames)
        self.platform = platform
        self.trial = trial
    }

    /// Renders one binding of a template and checks the message. `payload` stands for all bindings of that template and
    /// keeps the largest of their messages.
    mutating func fill(_ rendering: TemplateBinding, pushes: Int, into payload: inout DryRun.Payload) {
        payload.template = rendering.template
        if let found = renderer.uses(of: rendering) {
            use.named.formUnion(found.named)
            for name in found.withoutValue { use.withoutValue[name, default: 0] += pushes }
        }
        switch renderer.message(for: rendering) {
        case .refused(let outcome): add(outcome.reason, of: rendering.template, pushes)
        case .message(let rendered):
            let message = trial.prepared(rendered, on: platform)
            if let problem = trial.problem(of: message) { add(problem, of: rendering.template, pushes) }
            if message.body.count > payload.message?.body.count ?? -1 { payload.message = message }
        }
    }

    private mutating func add(_ sentence: String, of template: Template, _ count: Int) {
        let problem = Problem(template: Self.name(of: template), sentence: sentence)
        if let known = pushes[problem] {
            pushes[problem] = known + count
        } else if order.count < Self.problemLimit {
            pushes[problem] = count
            order.append(problem)
        } else {
            furtherPushes += count
        }
    }

    func sentences() -> [String] {
        let platform = platform.descriptor.platform
        let reported = order.map { problem in
            "\(problem.template) on \(platform), which is \(Self.pushes(pushes[problem] ?? 0)): \(problem.sentence)"
        }
        guard furtherPushes > 0 else { return reported }
        return reported + ["Further templates on \(platform) cannot be sent, which is \(Self.pushes(furtherPushes))."]
    }

    private static func pushes(_ count: Int) -> String { count == 1 ? "1 push" : "\(count) pushes" }

    private static func name(of template: Template) -> String {
        if let name = template.name { return "The template '\(name)'" }
        let start = template.body.prefix(40)
        return "The template \(start)\(start.count < template.body.count ? "…" : "")"
    }
}
