import MartletCore
import MartletCrypto
import MartletHTTP
import MartletHubAPI
import MartletModel

/// Creates and removes storage containers, and signs their URLs.
struct ContainerAdministration: Sendable {
    private static let hours = 1...8760

    let store: any ContainerStore
    let signer: URLSigner
    /// The address of the server, for use in signed URLs.
    let endpoint: PublicEndpoint
    let time: any TimeSource

    func addRoutes(to router: inout Router) {
        router.on(.get, "/containers") { _, _ in
            await answer { () async throws(ContainerError) in
                HTTPResponse(.ok, json: .array(try await store.containers().map { .string($0.text) }))
            }
        }
        router.on(.put, "/containers/{name}") { _, match in
            await withName(match) { name async throws(ContainerError) in
                guard try await store.createContainer(name) else {
                    return HTTPResponse(
                        .conflict,
                        error: "There is a container '\(name)' already: 'martlet container url \(name)' prints its URL."
                    )
                }
                return signedURL(of: name, match)
            }
        }
        router.on(.get, "/containers/{name}/url") { _, match in
            await withName(match) { name async throws(ContainerError) in
                guard try await store.containers().contains(name) else { throw .noContainer }
                return signedURL(of: name, match)
            }
        }
        router.on(.delete, "/containers/{name}") { _, match in
            await withName(match) { name async throws(ContainerError) in
                try await store.deleteContainer(name)
                return HTTPResponse(.noContent)
            }
        }
    }

    private func signedURL(of name: ContainerName, _ match: RouteMatch) -> HTTPResponse {
        let hours = match.target.item("hours")?.value ?? "24"
        guard let number = Int(hours), Self.hours.contains(number) else {
            return HTTPResponse(.badRequest, error: "A signed URL is good for 1 to \(Self.hours.upperBound) hours.")
        }
        let letters = match.target.item("rights")?.value ?? StorageRights.all.text
        let rights = StorageRights(letters)
        guard !rights.isEmpty, rights.text.count == Set(letters).count else {
            return HTTPResponse(
                .badRequest, error: "Rights are letters: r to read, w to write, d to delete, l to list.")
        }
        let path = [ContainerAPI.segment, name.text]
        do throws(CryptoError) {
            let query = try signer.query(
                for: path, .container, rights: rights, until: time.now + .seconds(3600 * number))
            return endpoint.answer(
                json: ["url": .string("\(endpoint.origin)/\(path.joined(separator: "/"))?\(query)")])
        } catch {
            return HTTPResponse(.internalServerError, error: "The URL cannot be signed: \(error)")
        }
    }

    private func withName(
        _ match: RouteMatch, _ work: (ContainerName) async throws(ContainerError) -> HTTPResponse
    ) async -> HTTPResponse {
        guard let name = ContainerName(match["name"]) else {
            return HTTPResponse(.badRequest, error: ContainerName.rule)
        }
        return await answer { () async throws(ContainerError) in try await work(name) }
    }

    private func answer(_ work: () async throws(ContainerError) -> HTTPResponse) async -> HTTPResponse {
        do throws(ContainerError) {
            return try await work()
        } catch {
            if case .storage(let error) = error { return HTTPResponse(.serviceUnavailable, error: error.detail) }
            return HTTPResponse(
                .notFound, error: "There is no such container; 'martlet container list' prints their names.")
        }
    }
}
