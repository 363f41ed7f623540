import MartletModel

extension DryRuns {
    /// The maximum number of missing languages in the result.
    private static let languageLimit = 20
    /// The maximum number of language tags of a hub that are examined.
    private static let tagLimit = 100

    /// Removes from a count the registrations that a composed message does not reach: registrations with a template,
    /// and registrations on platforms that the sender excludes.
    /// - Returns: The number of devices that have only registrations with templates.
    static func keepNatives(of content: ComposedContent, in count: inout AudienceCount) -> Int {
        var templatesOnly = 0
        for (platform, counts) in count.platforms {
            guard !content.omits(platform) else {
                count.platforms[platform] = nil
                continue
            }
            templatesOnly += counts.devices - counts.native
            count.platforms[platform]?.devices = counts.native
            count.platforms[platform]?.templates = 0
            if counts.native == 0 { count.platforms[platform] = nil }
        }
        return templatesOnly
    }

    /// Returns the languages that devices in the audience use, but in which the message has no text. Such devices get
    /// the text in the message's own language.
    /// - Returns: The languages; nil if the message has only one language.
    func missingLanguages(
        of content: ComposedContent, _ expression: TagExpression?, _ send: Send
    ) async throws(StorageError) -> [String]? {
        guard content.languages.count > 1 else { return nil }
        var missing: [String] = []
        let spoken = try await devices.tags(
            beginningWith: MessageLanguages.tagPrefix, in: send.hub, limit: Self.tagLimit)
        for tag in spoken
        where content.languages.index(ofTag: tag.folded) == nil && missing.count < Self.languageLimit {
            let speakers = TagExpression.tag(tag)
            let query = AudienceCountQuery(
                hub: send.hub, expression: expression.map { .and([$0, speakers]) } ?? speakers, kind: .native,
                now: send.now)
            let count = try await devices.audienceCount(query)
            guard count.platforms.contains(where: { !content.omits($0.key) && $0.value.native > 0 }) else { continue }
            missing.append(String(tag.folded.dropFirst(MessageLanguages.tagPrefix.count)))
        }
        return missing
    }

    /// Adds the payloads of a composed message to the result of a platform: one for each language of the platform's
    /// devices, the most frequent language first.
    func fill(
        _ result: inout DryRun.PlatformResult, _ counts: AudienceCount.PlatformCounts, _ content: ComposedContent,
        _ send: Send,
        _ trial: RequestTrial
    ) {
        guard let platform = platforms[result.platform] else { return }
        let rendering = ComposedRendering(content: content, platform: platform, id: send.id, timestamp: send.now)
        let languages = content.languages.count > 1 ? counts.languages : [0: result.targeted]
        for (language, pushes) in languages.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            do throws(ComposedRendering.Failure) {
                let message = trial.prepared(try rendering.message(language: language), on: platform)
                if let problem = trial.problem(of: message), !result.problems.contains(problem) {
                    result.problems.append(problem)
                }
                guard result.payloads.count < DryRun.payloadLimit else {
                    result.furtherPushes += pushes
                    continue
                }
                var payload = DryRun.Payload(pushes: pushes, message: message)
                payload.language = content.languageName(language)
                result.payloads.append(payload)
            } catch {
                // No problem is added here. A message that is invalid or too large was refused before, and the check of
                // the credential reports a platform without a push service.
                result.untriedPushes += pushes
            }
        }
    }
}
