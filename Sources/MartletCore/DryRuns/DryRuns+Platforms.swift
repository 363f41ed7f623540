import MartletModel

extension DryRuns {
    /// The maximum number of handles with which a message is tried. One is not enough, because a message may not suit
    /// the first handle.
    private static let sampleSize = 32

    /// Returns the predicted result of a send on one platform.
    func result(
        of send: Send, on platform: PlatformID, _ counts: AudienceCount.PlatformCounts
    ) async throws(StorageError) -> DryRun.PlatformResult {
        let samples = try await samples(of: send, on: platform)
        let found = await credentials.check(platform, of: send.hub, sample: samples.first)
        var result = DryRun.PlatformResult(
            platform: platform, targeted: send.kind == .native ? counts.native : counts.templates,
            devices: counts.devices, credential: found.check, payloads: [],
            problems: found.check.problem.map { [$0] } ?? [])
        let trial = RequestTrial(
            service: found.service, token: found.token, handles: samples, expiry: send.expiry,
            statesExpiry: send.statesExpiry, now: send.now)
        // A direct send tries the message with each of its handles anyway.
        if !send.isDirect { result.problems += trial.problemsOfAddresses() }
        switch send.content {
        case .native(_, let message):
            let type = platforms[platform]
            let message = trial.prepared(type?.normalized(message, at: send.now) ?? message, on: type)
            result.payloads = [DryRun.Payload(pushes: result.targeted, message: message)]
            guard !send.isRefused else { break }
            result.problems +=
                send.isDirect ? trial.problemsOfEach(message) : trial.problem(of: message).map { [$0] } ?? []
        case .template(let properties):
            guard !send.isRefused, let type = platforms[platform] else { break }
            let renderer = TemplateRenderer(properties, on: type, at: send.now, templates: templates)
            var filling = TemplateTrial(renderer, trial, on: type)
            try await fill(&result, counts, &filling, in: send.hub)
        case .message(let content):
            guard !send.isRefused else { break }
            fill(&result, counts, content, send, trial)
        }
        guard let type = platforms[platform] else { return result }
        for index in result.payloads.indices {
            result.payloads[index].appearance = result.payloads[index].message.flatMap { type.shown($0) }
        }
        return result
    }

    private func samples(of send: Send, on platform: PlatformID) async throws(StorageError) -> [PushHandle] {
        switch send.target {
        case .direct(let handles): return handles
        case .audience(let expression):
            let page = try await devices.audience(
                AudienceQuery(
                    hub: send.hub, platform: platform, kind: send.kind, expression: expression,
                    throughChannel: ChannelID(rawValue: .max), limit: Self.sampleSize, now: send.now))
            return page.members.indices.map { page.handle($0) }
        }
    }

    /// Renders every template of the audience, and adds the payloads and problems to the result of a platform. The
    /// templates with the most pushes come first.
    private func fill(
        _ result: inout DryRun.PlatformResult, _ counts: AudienceCount.PlatformCounts, _ trial: inout TemplateTrial,
        in hub: Hub.ID
    ) async throws(StorageError) {
        result.untriedPushes = counts.templates - counts.renderings.values.reduce(0, +)
        let groups = Dictionary(grouping: counts.renderings) { $0.key.template }
            .map { (template: $0.key, pushes: $0.value.reduce(0) { $0 + $1.value }, renderings: $0.value) }
            .sorted { ($1.pushes, $0.template) < ($0.pushes, $1.template) }
        for group in groups {
            var payload = DryRun.Payload(pushes: group.pushes, renderings: group.renderings.count, message: nil)
            for start in stride(from: 0, to: group.renderings.count, by: Self.portion) {
                let portion = group.renderings[start..<min(start + Self.portion, group.renderings.count)]
                for rendering in try await devices.renderings(portion.map(\.key), in: hub) {
                    trial.fill(rendering, pushes: counts.renderings[rendering.id] ?? 0, into: &payload)
                }
            }
            if result.payloads.count < DryRun.payloadLimit {
                result.payloads.append(payload)
            } else {
                result.furtherTemplates += 1
                result.furtherPushes += payload.pushes
            }
        }
        result.problems += trial.sentences()
        result.use = trial.use
    }

    /// The maximum number of template bindings that are in memory at the same time.
    private static let portion = 16
}
