import MartletModel

/// Checks a notification before it is accepted, and removes duplicate handles.
struct NotificationCheck: Sendable {
    let platforms: PushPlatformList

    /// Checks the content and the target of a notification. Returns the content unchanged, and the target without
    /// duplicate handles.
    func checked(
        _ content: Notification.Content, _ target: Notification.Target, at now: Timestamp
    ) throws(NotificationIntakeError) -> (Notification.Content, Notification.Target) {
        switch content {
        case .native(let id, let message):
            guard let platform = platforms[id] else { throw .invalid("There is no platform '\(id)'.") }
            try check(platform.normalized(message, at: now), on: platform)
            return (content, try checked(target, on: platform))
        case .template(let properties):
            guard case .audience = target else {
                throw .invalid("A template notification goes to registrations; a direct send needs a native format.")
            }
            try check(properties)
            return (content, target)
        case .message(let composed):
            guard case .audience = target else {
                throw .invalid("A message goes to registrations; a direct send needs a native format.")
            }
            do throws(ComposedCheck.Failure) {
                try ComposedCheck(platforms: platforms).check(composed)
            } catch {
                throw NotificationIntakeError(error)
            }
            return (content, target)
        }
    }

    /// Checks that a composed message is within the payload limits of the given platforms, in every language.
    func checkSizes(
        of content: ComposedContent, on ids: [PlatformID], id: NotificationID, at now: Timestamp
    ) throws(NotificationIntakeError) {
        do throws(ComposedCheck.Failure) {
            try ComposedCheck(platforms: platforms).checkSizes(of: content, on: ids, id: id, at: now)
        } catch {
            throw NotificationIntakeError(error)
        }
    }

    /// Checks the payloads as `checkSizes` does.
    /// - Returns: The first payload that is too large; nil if there is none.
    func excess(
        of content: ComposedContent, on ids: [PlatformID], id: NotificationID, at now: Timestamp
    ) throws(NotificationIntakeError) -> PayloadExcess? {
        do throws(ComposedCheck.Failure) {
            try ComposedCheck(platforms: platforms).checkSizes(of: content, on: ids, id: id, at: now)
            return nil
        } catch {
            guard case .tooLarge(let excess) = error else { throw NotificationIntakeError(error) }
            return excess
        }
    }

    /// Returns the collapse key of a checked notification. A template notification has none, because its messages may
    /// have different keys.
    func collapse(
        of content: Notification.Content, to target: Notification.Target, id: NotificationID, at now: Timestamp
    ) throws(NotificationIntakeError) -> Collapse? {
        if case .message(let composed) = content {
            let keys = ComposedCheck(platforms: platforms).collapseKeys(of: composed, id: id, at: now)
            return keys.isEmpty ? nil : Collapse(keysByPlatform: keys)
        }
        guard case .native(let id, let message) = content, let platform = platforms[id],
            let key = platform.collapseKey(of: platform.normalized(message, at: now))
        else { return nil }
        guard case .direct(let handles) = target else { return Collapse(key: key) }
        do throws(PushServiceError) {
            var keys: [String] = []
            for handle in handles { keys.append(try platform.key(of: handle)) }
            return Collapse(key: key, handleKeys: keys)
        } catch {
            throw .invalid(error.description)
        }
    }

    private func check(
        _ message: Message, on platform: any PushPlatform.Type
    ) throws(NotificationIntakeError) {
        do throws(PushServiceError) {
            try platform.check(message)
        } catch {
            throw error.kind == .messageTooLarge ? .tooLarge(error.description) : .invalid(error.description)
        }
    }

    private func checked(
        _ target: Notification.Target, on platform: any PushPlatform.Type
    ) throws(NotificationIntakeError) -> Notification.Target {
        guard case .direct(let handles) = target else { return target }
        guard (1...Notification.Target.handleLimit).contains(handles.count) else {
            throw .invalid("A direct send goes to 1 to \(Notification.Target.handleLimit) handles.")
        }
        var keys: Set<String> = []
        var unique: [PushHandle] = []
        for (index, handle) in handles.enumerated() {
            do throws(PushServiceError) {
                if keys.insert(try platform.key(of: handle)).inserted { unique.append(handle) }
            } catch {
                throw .invalid((handles.count == 1 ? "" : "Handle \(index + 1): ") + error.description)
            }
        }
        return .direct(unique)
    }

    private func check(_ properties: [UInt8]) throws(NotificationIntakeError) {
        do throws(TemplatePropertiesError) {
            _ = try TemplateProperties(parsing: properties)
        } catch {
            throw error == .tooLarge ? .tooLarge(error.description) : .invalid(error.description)
        }
    }
}

extension NotificationIntakeError {
    fileprivate init(_ failure: ComposedCheck.Failure) {
        switch failure {
        case .invalid(let sentence): self = .invalid(sentence)
        case .tooLarge(let excess): self = .tooLarge(excess.description)
        }
    }
}
