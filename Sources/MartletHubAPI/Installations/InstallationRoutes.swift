import MartletCore
import MartletHTTP
import MartletModel

/// The routes that create, replace, read, patch and remove one installation (NotificationHubs.md, section 5.1).
///
/// The Java, .NET and JavaScript clients accept only the status 200 for a write, and only 204 for a removal.
struct InstallationRoutes: Sendable {
    let devices: DeviceRegistry

    func add(to routes: inout HubRoutes) {
        let limit = Installation.sizeLimit
        routes.on(.put, "/{hub}/installations/{id}", needs: .listen, bodyLimit: limit, put)
        routes.on(.get, "/{hub}/installations/{id}", needs: .listen, read)
        routes.on(.patch, "/{hub}/installations/{id}", needs: .listen, bodyLimit: limit, patch)
        routes.on(.delete, "/{hub}/installations/{id}", needs: .listen, bodyLimit: limit, delete)
    }

    /// Creates or replaces an installation. The id in the URL takes precedence over the id in the body.
    @Sendable private func put(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let installation: Installation
        do throws(InstallationError) {
            installation = try Installation(parsing: call.request.body, id: call.match["id"])
        } catch {
            throw .badRequest(error.description)
        }
        do throws(DeviceRegistryError) {
            try await devices.put(installation, in: call.hub.id)
        } catch {
            throw HubAPIError(ofInstallation: error)
        }
        return HTTPResponse(.ok)
    }

    @Sendable private func read(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let found: Installation?
        do throws(DeviceRegistryError) {
            found = try await devices.installation(call.match["id"], in: call.hub.id)
        } catch {
            throw HubAPIError(ofInstallation: error)
        }
        guard let installation = found else { throw .installationNotFound }
        return HTTPResponse(
            .ok, fields: ["content-type": "application/json; charset=utf-8"], body: .bytes(installation.json.bytes))
    }

    @Sendable private func patch(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let patch: InstallationPatch
        do throws(InstallationError) {
            patch = try InstallationPatch(parsing: call.request.body)
        } catch {
            throw .badRequest(error.description)
        }
        do throws(DeviceRegistryError) {
            try await devices.patchInstallation(call.match["id"], with: patch, in: call.hub.id)
        } catch {
            throw HubAPIError(ofInstallation: error)
        }
        return HTTPResponse(.ok)
    }

    /// Removes an installation. The request also succeeds if the installation does not exist.
    @Sendable private func delete(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        do throws(DeviceRegistryError) {
            try await devices.deleteInstallation(call.match["id"], in: call.hub.id)
        } catch {
            throw HubAPIError(ofInstallation: error)
        }
        return HTTPResponse(.noContent)
    }
}
