import MartletCore
import MartletHTTP
import MartletModel

/// The routes that send notifications (NotificationHubs.md, sections 6 and 7).
struct MessageRoutes: Sendable {
    let notifications: NotificationIntake
    let testSends: TestSends
    let dryRuns: DryRuns
    let platforms: PushPlatformList

    func add(to routes: inout HubRoutes) {
        let limit = SendRequest.sizeLimit
        routes.on(.post, "/{hub}/messages", needs: .send, bodyLimit: limit, trials: .all, send)
        routes.on(
            .post, "/{hub}/messages/$batch", needs: .send, bodyLimit: DirectBatch.sizeLimit, trials: .all, sendBatch)
        routes.on(.post, "/{hub}/schedulednotifications", needs: .send, bodyLimit: limit, trials: .all, schedule)
        routes.on(.put, "/{hub}/schedulednotifications/{id}", needs: .send, bodyLimit: limit, trials: .all, replace)
        routes.on(.delete, "/{hub}/schedulednotifications/{id}", needs: .send, cancel)
    }

    @Sendable private func send(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let isDirect = call.match.target.flag("direct")
        let send = try SendRequest(call, isDirect: isDirect, platforms: platforms)
        if try SendRequest.isDryRun(call) { return try await answerDryRun(send, of: call) }
        if send.isTest { return try await answerTest(send, of: call) }
        return try await accept(send, to: "messages", as: "messages", isDirect: isDirect, of: call)
    }

    @Sendable private func sendBatch(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let send = try SendRequest(batch: call, platforms: platforms)
        if try SendRequest.isDryRun(call) { return try await answerDryRun(send, of: call) }
        if send.isTest { return try await answerTest(send, of: call) }
        return try await accept(send, to: "messages/$batch", as: "messages", isDirect: true, of: call)
    }

    @Sendable private func schedule(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let isDirect = call.match.target.flag("direct")
        let send = try SendRequest(scheduled: call, isDirect: isDirect, platforms: platforms)
        if try SendRequest.isDryRun(call) { return try await answerDryRun(send, of: call) }
        let kind = "schedulednotifications"
        return try await accept(send, to: kind, as: kind, isDirect: isDirect, of: call)
    }

    /// Accepts a send only once, even if a client repeats a request that has an idempotency key or a tracking id.
    /// - Parameters:
    ///   - path: The path of the request, which is part of the identity by which a repeated request is recognized.
    ///   - kind: The path segment before the notification's id in `Location`. A batch uses `messages`, because the
    ///     JavaScript client reads the third segment of the path as the id (NotificationHubs.md, section 6.7).
    private func accept(
        _ send: SendRequest, to path: String, as kind: String, isDirect: Bool, of call: HubCall
    ) async throws(HubAPIError) -> HTTPResponse {
        let identity = try RequestKey.read(from: call.request)?.identity(of: send, to: path, in: call)
        let id: NotificationID
        do throws(NotificationIntakeError) {
            id = try await notifications.accept(
                send.content, to: send.target, in: call.hub.id, dueAt: send.dueAt, expiry: send.expiry,
                isConfidential: send.isConfidential, rollout: send.rollout, request: identity,
                author: call.author)
        } catch {
            throw HubAPIError(error)
        }
        return HTTPResponse(.created, fields: location(of: id, kind, isDirect: isDirect, call))
    }

    private func location(of id: NotificationID, _ kind: String, isDirect: Bool, _ call: HubCall) -> HTTPFields {
        let query = call.versionQuery + (isDirect ? "&direct" : "")
        return [
            "location": call.url(kind, id.description) + query, "content-type": "application/xml; charset=utf-8",
        ]
    }

    /// Replaces a notification that has not begun. This route is an extension of Azure's API.
    @Sendable private func replace(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let isDirect = call.match.target.flag("direct")
        let send = try SendRequest(scheduled: call, isDirect: isDirect, platforms: platforms)
        if try SendRequest.isDryRun(call) { return try await answerDryRun(send, of: call) }
        guard let id = NotificationID(call.match["id"]), let dueAt = send.dueAt else { throw .notificationNotFound }
        let replacement: Replacement
        do throws(NotificationIntakeError) {
            replacement = try await notifications.replace(
                id, in: call.hub.id, with: send.content, to: send.target, dueAt: dueAt, expiry: send.expiry,
                isConfidential: send.isConfidential, rollout: send.rollout, author: call.author)
        } catch {
            throw HubAPIError(error)
        }
        switch replacement {
        case .replaced(let control):
            var fields = location(of: id, "schedulednotifications", isDirect: isDirect, call)
            if control.isHeld { fields["martlet-control"] = control.rawValue }
            return HTTPResponse(.ok, fields: fields)
        case .notFound: throw .notificationNotFound
        case .begun: throw .replacedTooLate("has begun to go out")
        case .canceled: throw .replacedTooLate("was canceled")
        }
    }

    /// Sends the notification while the caller waits, and answers with the outcomes.
    private func answerTest(_ send: SendRequest, of call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let report: TestSendReport
        do throws(TestSendError) {
            report = try await testSends.send(
                send.content, to: send.target, in: call.hub.id, expiry: send.expiry)
        } catch {
            throw HubAPIError(error)
        }
        let document = TestSendDocument(report: report, platforms: platforms)
        if call.request.fields[HubAPIError.answerField] == "json" {
            return HTTPResponse(
                .created, fields: ["content-type": "application/json; charset=utf-8", "cache-control": "no-store"],
                body: .bytes(document.json.bytes))
        }
        return HTTPResponse(
            .created, fields: ["content-type": "application/xml; charset=utf-8"], body: .bytes(document.document()))
    }

    /// Answers with the result of a dry run. Dry runs are an extension of Azure's API.
    private func answerDryRun(_ send: SendRequest, of call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let run: DryRun
        do throws(StorageError) {
            run = try await dryRuns.run(
                send.content, to: send.target, in: call.hub.id, dueAt: send.dueAt, expiry: send.expiry,
                rollout: send.rollout)
        } catch {
            throw HubAPIError(error)
        }
        return DryRunDocument(run: run).response()
    }

    /// Cancels a notification that has not begun. For a notification that has begun, the answer is 404, which the Java
    /// client reads as success (NotificationHubs.md, section 7).
    @Sendable private func cancel(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        guard let id = NotificationID(call.match["id"]) else { throw .notificationNotFound }
        let cancellation: Cancellation
        do throws(StorageError) {
            cancellation = try await notifications.cancel(id, in: call.hub.id)
        } catch {
            throw HubAPIError(error)
        }
        switch cancellation {
        case .canceled: return HTTPResponse(.ok)
        case .begun: throw .notificationBegun
        case .notFound: throw .notificationNotFound
        }
    }
}
