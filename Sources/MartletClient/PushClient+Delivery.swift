import MartletModel

extension ClientRequest {
    /// Returns the same request with a bearer token; nil leaves the token out.
    func authorized(by token: String?) -> ClientRequest {
        with("authorization", token.map { "Bearer \($0)" })
    }

    /// Returns the same request with a header field set to a value; nil removes the field.
    func with(_ name: String, _ value: String?) -> ClientRequest {
        var fields = fields
        fields[name] = value
        return ClientRequest(method, url, fields: fields, body: body, upload: upload)
    }
}

extension PushClient {
    nonisolated func request(_ method: String, _ target: String, _ body: JSON? = nil) -> ClientRequest {
        var fields = ["accept": "application/json"]
        if body != nil { fields["content-type"] = "application/json; charset=utf-8" }
        return ClientRequest(method, server.base + target, fields: fields, body: body?.bytes)
    }

    /// Sends a request as the user who is logged in, and never as another user. If the session has ended, logs in again
    /// once.
    /// - Parameter sink: Receives the body of the answer, if the sink accepts the body.
    func ask(
        _ request: ClientRequest, to sink: (any ResponseSink)? = nil
    ) async throws(RetryableFailure) -> ClientResponse {
        let user = lastUser
        let token = try await authorization()
        let answer = try await exchange(request.authorized(by: token), to: sink)
        guard answer.status == 401 else { return answer }
        guard user == lastUser else { throw .superseded }
        let fresh = try await authorization(insteadOf: token)
        let second = try await exchange(request.authorized(by: fresh), to: sink)
        guard second.status == 401 else { return second }
        if session == fresh { session = nil }
        throw .logInNeeded
    }

    func ask(_ method: String, _ target: String, _ body: JSON? = nil) async throws(RetryableFailure) -> ClientResponse {
        try await ask(request(method, target, body))
    }

    /// Sends a request once, without retries.
    /// - Parameter status: An answer with this status is returned, even if the status stands for a temporary failure.
    /// - Throws: `RetryableFailure` if there is no answer, or if the answer stands for a temporary failure.
    nonisolated func exchange(
        _ request: ClientRequest, except status: Int? = nil, to sink: (any ResponseSink)? = nil
    ) async throws(RetryableFailure) -> ClientResponse {
        let answer: ClientResponse
        do throws(ClientTransportError) {
            answer =
                if let sink { try await transport.send(request, to: sink) } else { try await transport.send(request) }
        } catch {
            throw RetryableFailure(error)
        }
        let failure = RetryableFailure(answer)
        guard failure.mayPass, answer.status != status else { return answer }
        throw failure
    }

    /// Repeats `work` until it succeeds, fails permanently, or the attempts are used up. Also stops if the server asks
    /// for a longer wait than `RetryPolicy.longestWait`.
    /// - Parameter isRepeatable: Whether `work` is idempotent. Otherwise `work` is only repeated if the server cannot
    ///   have processed the request.
    /// - Parameter endsWithUser: Whether to stop once another user has logged in, or this user has logged out.
    func retrying<Value>(
        isRepeatable: Bool = true, endsWithUser: Bool = true, _ work: () async throws(RetryableFailure) -> Value
    ) async throws(PushClientError) -> Value {
        let user = lastUser
        var attempt = 1
        while true {
            let failure: RetryableFailure
            do throws(RetryableFailure) {
                return try await work()
            } catch {
                failure = error
            }
            guard failure.mayPass, isRepeatable || !failure.mayHaveHadEffect, attempt < retry.attempts,
                failure.shortestWait <= retry.longestWait
            else { throw failure.error }
            let wait = max(failure.shortestWait, retry.wait(after: attempt, chance: environment.chance()))
            guard (try? await environment.sleep(wait)) != nil else { throw .cancelled }
            guard user == lastUser || !endsWithUser else { throw .superseded }
            attempt += 1
        }
    }

    /// Returns a text in which every byte is percent-encoded as `%XX`, except the unreserved characters (RFC 3986,
    /// section 2.1).
    nonisolated func percentEncoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
