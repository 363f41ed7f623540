import MartletHTTP
import MartletModel

/// Builds the requests for messages as a send would, and discards them instead of sending them. This finds the errors
/// that the `PushService` throws while it builds a request.
struct RequestTrial: Sendable {
    /// The push service; nil if the hub cannot send to the platform. Then no message is checked.
    let service: (any PushService)?
    let token: String?
    let handles: [PushHandle]
    let expiry: Timestamp
    /// Whether the sender has stated the expiry. Only then is it added to the messages (`PushPlatform.limited`).
    let statesExpiry: Bool
    let now: Timestamp

    /// Returns a message with the expiry that the sender has stated, as it would be sent.
    func prepared(_ message: Message, on platform: (any PushPlatform.Type)?) -> Message {
        guard statesExpiry, let platform else { return message }
        return platform.limited(message, to: expiry, at: now)
    }

    /// Builds the request that would send a message to the first handle that it suits. Returns the error as a sentence;
    /// nil if there is no error, or if the message suits no handle.
    ///
    /// Without handles, only the part that all requests share is built, and only if handles are not addresses.
    func problem(of message: Message) -> String? {
        guard let service else { return nil }
        guard !handles.isEmpty else { return refusal(of: message, by: service)?.description }
        for handle in handles {
            guard let error = refusal(of: message, by: service, to: handle) else { return nil }
            // If the message does not suit this handle, or if the handle itself is bad, the next handle is tried. Any
            // other problem concerns all handles.
            if error.kind != .unsuited, error.kind != .badHandle { return error.description }
        }
        return nil
    }

    /// Returns the problems of handles to which no message can be sent, because they are not addresses, or because the
    /// credential does not allow their addresses. Each problem is listed once, with the number of handles that it
    /// affects.
    func problemsOfAddresses() -> [String] {
        guard let service, type(of: service).handlesAreAddresses else { return [] }
        return counted { handle throws(PushServiceError) in
            try Array(handle.text.utf8).withUnsafeBufferPointer { bytes throws(PushServiceError) in
                _ = try service.origin(of: bytes)
            }
        }
    }

    /// Builds the request that would send a message, for every handle, and returns the problems. Each problem is listed
    /// once, with the number of handles that it affects.
    func problemsOfEach(_ message: Message) -> [String] {
        guard let service else { return [] }
        return counted { handle throws(PushServiceError) in
            try tryOut(message, service, Array(handle.text.utf8))
        }
    }

    /// Calls `attempt` with every handle. Returns each different error once, as a sentence with the number of handles
    /// that it affects.
    private func counted(_ attempt: (PushHandle) throws(PushServiceError) -> Void) -> [String] {
        var counts: [String: Int] = [:]
        for handle in handles {
            do throws(PushServiceError) {
                try attempt(handle)
            } catch {
                counts[error.description, default: 0] += 1
            }
        }
        return counts.sorted { $0.key < $1.key }.map { sentence, count in
            handles.count == 1 ? sentence : "\(count) of \(handles.count) handles: \(sentence)"
        }
    }

    private func refusal(
        of message: Message, by service: any PushService, to handle: PushHandle? = nil
    ) -> PushServiceError? {
        do throws(PushServiceError) {
            if let handle {
                try tryOut(message, service, Array(handle.text.utf8))
            } else if !type(of: service).handlesAreAddresses {
                _ = try service.shared(message, token: token, expiry: expiry, at: now)
            }
            return nil
        } catch {
            return error
        }
    }

    private func tryOut(
        _ message: Message, _ service: any PushService, _ handle: [UInt8]
    ) throws(PushServiceError) {
        try handle.withUnsafeBufferPointer { handle throws(PushServiceError) in
            var service = service
            if type(of: service).handlesAreAddresses { service = service.at(try service.origin(of: handle)) }
            var batch = RequestBatch(try service.shared(message, token: token, expiry: expiry, at: now))
            try service.append(handle, id: MessageID(high: 0, low: 0), message: message, to: &batch)
        }
    }
}
