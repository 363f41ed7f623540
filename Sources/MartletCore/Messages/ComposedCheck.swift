import MartletModel

/// Checks a composed message before it is accepted: its names, its content, and the sizes of its payloads.
struct ComposedCheck: Sendable {
    let platforms: PushPlatformList

    enum Failure: Error, Hashable {
        case invalid(String)
        case tooLarge(PayloadExcess)
    }

    /// Checks everything that does not depend on the hub: the names of platforms, of header fields and of data entries.
    /// A message that is not silent also needs a title or a text, unless the sender gives a payload for every platform
    /// that is not excluded.
    func check(_ content: ComposedContent) throws(Failure) {
        let message = content.message
        for (name, part) in message.platforms.sorted(by: { $0.key < $1.key }) {
            guard let platform = platforms[PlatformID(rawValue: name)] else {
                let known = platforms.map { $0.descriptor.platform.rawValue }.joined(separator: ", ")
                throw .invalid("The message's platforms has '\(name.prefix(64))'; the platforms are \(known).")
            }
            if case .payload(_, let headers) = part { try check(headers, of: platform, named: name) }
        }
        for name in message.data.keys.sorted()
        where platforms.contains(where: { $0.isReserved(dataName: name.lowercased()) }) {
            throw .invalid(ComposedMessage.reserved(name).description)
        }
        guard message.title == nil, message.text == nil, !message.isSilent else { return }
        for platform in platforms where platforms.service(platform.descriptor.platform) != nil {
            switch content.part(of: platform.descriptor.platform) {
            case .payload?, .omitted?: continue
            case .merged?, nil:
                throw .invalid(
                    "The message needs a title or a text, unless every platform has a payload: "
                        + "\(platform.descriptor.platform) has none.")
            }
        }
    }

    private func check(
        _ headers: [String: String], of platform: any PushPlatform.Type, named name: String
    ) throws(Failure) {
        let prefixes = platform.descriptor.fieldPrefixes
        for header in headers.keys.sorted() where !prefixes.contains(where: header.hasPrefix) {
            let known = prefixes.isEmpty ? "none" : prefixes.map { $0 + "…" }.joined(separator: ", ")
            throw .invalid("The message's platforms.\(name).headers has '\(header)'; payloads there have \(known).")
        }
    }

    /// Checks the payload sizes by rendering the message in every language for the given platforms, with the defaults
    /// of its variables.
    func checkSizes(
        of content: ComposedContent, on ids: [PlatformID], id: NotificationID, at now: Timestamp
    ) throws(Failure) {
        for platform in ids.compactMap({ platforms[$0] }) where !content.omits(platform.descriptor.platform) {
            let rendering = ComposedRendering(content: content, platform: platform, id: id, timestamp: now)
            for language in 0..<content.languages.count {
                do throws(ComposedRendering.Failure) {
                    _ = try rendering.message(language: language)
                } catch {
                    try refuse(error, content, platform, language)
                }
            }
        }
    }

    private func refuse(
        _ error: ComposedRendering.Failure, _ content: ComposedContent, _ platform: any PushPlatform.Type,
        _ language: Int
    ) throws(Failure) {
        switch error {
        // If the platform has no push service, the message is not refused. As in every send, the missing push service
        // becomes the outcome of the platform's devices.
        case .noPushService: return
        case .invalid(let sentence): throw .invalid(sentence)
        case .tooLarge(let size, let limit):
            throw .tooLarge(
                PayloadExcess(
                    platform: platform.descriptor.platform, language: content.languageName(language), size: size,
                    limit: limit, isTruncated: content.message.isTruncated))
        }
    }

    /// Returns the collapse key of a message on each platform. With these keys, composed and native notifications can
    /// replace each other.
    func collapseKeys(
        of content: ComposedContent, id: NotificationID, at now: Timestamp
    ) -> [PlatformID: String] {
        var keys: [PlatformID: String] = [:]
        for platform in platforms where !content.omits(platform.descriptor.platform) {
            let rendering = ComposedRendering(content: content, platform: platform, id: id, timestamp: now)
            guard let message = try? rendering.uncheckedMessage(language: 0, value: { _ in nil }) else { continue }
            keys[platform.descriptor.platform] = platform.collapseKey(of: message)
        }
        return keys
    }
}
