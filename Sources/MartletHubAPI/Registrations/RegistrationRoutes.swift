import MartletCore
import MartletHTTP
import MartletModel

/// The routes that create, change, read and remove one registration (NotificationHubs.md, sections 4.5 to 4.8).
struct RegistrationRoutes: Sendable {
    let devices: DeviceRegistry
    let platforms: PushPlatformList

    func add(to routes: inout HubRoutes) {
        let (limit, page) = (RegistrationDocument.sizeLimit, HTTPRequest.pageBytes)
        routes.on(.post, "/{hub}/registrationids", needs: .listen, bodyLimit: limit, newID)
        routes.on(.post, "/{hub}/registrations", needs: .listen, bodyLimit: limit, create)
        routes.on(.put, "/{hub}/registrations/{id}", needs: .listen, bodyLimit: limit, put)
        routes.on(.get, "/{hub}/registrations/{id}", needs: .listen, read)
        routes.on(.delete, "/{hub}/registrations/{id}", needs: .listen, bodyLimit: limit, delete)
        routes.on(.get, "/{hub}/registrations", needs: Self.rightToList, answerBytes: page, list)
        routes.on(.get, "/{hub}/tags/{tag}/registrations", needs: .manage, answerBytes: page, listByTag)
    }

    /// Returns a new id. Nothing is stored until the first PUT with the id.
    @Sendable private func newID(_ call: HubCall) -> HTTPResponse {
        let url = call.url("registrationids", DeviceRegistry.newID()) + call.versionQuery
        return HTTPResponse(.created, fields: ["location": url])
    }

    @Sendable private func create(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let document = try RegistrationDocument(call.request.body, platforms: platforms)
        let registration = try await store(document, as: DeviceRegistry.newID(), in: call, .fresh)
        var response = try answer(registration, to: call)
        response.fields["content-location"] = url(of: registration, in: call)
        return response
    }

    @Sendable private func put(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let document = try RegistrationDocument(call.request.body, platforms: platforms)
        let condition = EntityTag.condition(call.request.fields["if-match"])
        let registration = try await store(document, as: call.match["id"], in: call, condition)
        return try answer(registration, to: call)
    }

    @Sendable private func read(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let found: Registration?
        do throws(DeviceRegistryError) {
            found = try await devices.registration(call.match["id"], in: call.hub.id)
        } catch {
            throw HubAPIError(error)
        }
        guard let registration = found else { throw .registrationNotFound }
        return try answer(registration, to: call)
    }

    /// Deletes a registration. Without `If-Match`, the registration is deleted whatever its version is.
    @Sendable private func delete(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let header = call.request.fields["if-match"]
        do throws(DeviceRegistryError) {
            _ = try await devices.delete(
                call.match["id"], in: call.hub.id, condition: EntityTag.condition(header ?? "*"))
            return HTTPResponse(.ok)
        } catch {
            if case .refused(.gone) = error { throw .registrationNotFound }
            throw HubAPIError(error)
        }
    }

    private func store(
        _ document: RegistrationDocument, as id: String, in call: HubCall, _ condition: WriteCondition
    ) async throws(HubAPIError) -> Registration {
        do throws(DeviceRegistryError) {
            return try await devices.put(
                id, in: call.hub.id, platform: document.platform, handle: document.handle, tags: document.tags,
                template: document.template, pushVariables: document.pushVariables,
                secondaryTile: document.secondaryTile, condition: condition)
        } catch {
            throw HubAPIError(error)
        }
    }

    private func answer(_ registration: Registration, to call: HubCall) throws(HubAPIError) -> HTTPResponse {
        guard let entry = entry(registration, in: call) else { throw .registrationNotFound }
        let fields: HTTPFields = [
            "content-type": "application/atom+xml; type=entry; charset=utf-8",
            "etag": EntityTag.text(registration.version),
        ]
        return HTTPResponse(.ok, fields: fields, body: .bytes(entry.document()))
    }

    private func url(of registration: Registration, in call: HubCall) -> String {
        call.url("registrations", registration.id) + call.versionQuery
    }

    /// Returns the entry for a registration; nil if this server no longer has the registration's platform.
    func entry(_ registration: Registration, in call: HubCall) -> RegistrationEntry? {
        platforms[registration.platform].map {
            RegistrationEntry(
                registration: registration, descriptor: $0.descriptor, url: url(of: registration, in: call))
        }
    }
}
