import MartletHTTP
import MartletModel

/// The settings, the audience and the limits of a hub, which `martlet hub show` prints as text or as JSON.
struct HubState {
    let json: JSON

    /// - Throws: `ServerError` if the hub does not exist.
    init(_ administration: Administration, hub: String) async throws {
        let path = "/hubs/\(segment(hub))"
        let hub = try await administration.call(.get, path)
        let audience = try await administration.call(.get, "\(path)/audience")
        let limits = try await administration.call(.get, "\(path)/limits")
        self.init(hub: hub, audience: audience, limits: limits)
    }

    init(hub: JSON, audience: JSON, limits: JSON) {
        let expiries = hub["credentialExpiries"]?.object ?? [:]
        let credentials = (hub["credentials"]?.array ?? []).compactMap(\.string).map { platform -> JSON in
            ["platform": .string(platform), "expiresAt": expiries[platform] ?? .null]
        }
        json = [
            "name": hub["name"] ?? .null, "createdAt": hub["createdAt"] ?? .null,
            "registrations": audience["registrations"] ?? .null, "devices": audience["devices"] ?? .null,
            "unfinished": limits["unfinished"] ?? .null, "credentials": .array(credentials),
        ]
    }

    var lines: [String] {
        let credentials = (json["credentials"]?.array ?? []).map { credential in
            let expiry = credential["expiresAt"]?.string.map { " until \($0)" } ?? ""
            return (credential["platform"]?.string ?? "") + expiry
        }
        let unfinished = json["unfinished"]
        return [
            "created: \(json["createdAt"]?.string ?? "")",
            "registrations: \((json["registrations"]?.integer ?? 0).grouped), of "
                + (json["devices"]?.integer ?? 0).counted("device"),
            "unfinished: \((unfinished?["notifications"]?.integer ?? 0).counted("notification")), "
                + "\((unfinished?["bytes"]?.integer ?? 0).counted("byte"))",
            "credentials: \(credentials.isEmpty ? "none" : credentials.joined(separator: ", "))",
        ]
    }
}
