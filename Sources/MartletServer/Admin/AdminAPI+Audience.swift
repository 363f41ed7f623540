import MartletCore
import MartletHTTP
import MartletHubAPI
import MartletModel

// The route that counts the devices that a send would reach.
extension AdminAPI {
    func addAudience(to router: inout Router) {
        router.on(.get, "/hubs/{name}/audience") { _, match in
            guard let hub = hubs.hub(named: match["name"]) else { return Self.refusal(.notFound(match["name"])) }
            let request: AudienceRequest
            do throws(AudienceRequest.Refusal) {
                request = try AudienceRequest(query: match.target, platforms)
            } catch {
                return HTTPResponse(.badRequest, error: error.sentence)
            }
            do throws(StorageError) {
                let count = try await devices.count(
                    request.expression, in: hub.id, platform: request.platform, kind: request.kind)
                return HTTPResponse(.ok, json: AudienceDocument(count).json)
            } catch {
                return HTTPResponse(.serviceUnavailable, error: error.detail)
            }
        }
    }
}
