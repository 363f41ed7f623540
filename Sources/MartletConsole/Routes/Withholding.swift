import MartletHTTP
import MartletModel

/// Removes data from answers that the operator may not see.
enum Withholding {
    /// Removes members of an object, and of the objects in an array.
    static func removing(_ names: Set<String>, from json: JSON) -> JSON {
        switch json {
        case .object(let members): .object(members.filter { !names.contains($0.key) })
        case .array(let elements): .array(elements.map { removing(names, from: $0) })
        default: json
        }
    }

    /// Shortens a handle to its first and last 4 characters, or an address to its origin and last 6 characters.
    static func masked(_ handle: String) -> String {
        if let (origin, rest) = HTTPOrigin.splitting(handle) { return "\(origin)/…\(rest.suffix(6))" }
        guard handle.count > 12 else { return String(handle.prefix(2)) + "…" }
        return "\(handle.prefix(4))…\(handle.suffix(4))"
    }

    /// Masks the handles of devices anywhere in a document.
    static func maskingHandles(in json: JSON) -> JSON {
        switch json {
        case .object(let members):
            .object(
                Dictionary(
                    uniqueKeysWithValues: members.map { name, value in
                        if ["handle", "pushChannel"].contains(name), let text = value.string {
                            return (name, .string(masked(text)))
                        }
                        return (name, maskingHandles(in: value))
                    }))
        case .array(let elements): .array(elements.map(maskingHandles))
        default: json
        }
    }

    /// Leaves the payloads out of a trace, with their digests and sizes: a short content can be found from its digest by
    /// trying.
    /// - Parameter reason: Why, for the page.
    static func withoutPayloads(trace: JSON, because reason: String) -> JSON {
        guard case .object(var members) = trace, let registrations = members["registrations"]?.array else {
            return trace
        }
        members["registrations"] = .array(
            registrations.map { registration in
                guard case .object(var members) = registration, members["payload"] != nil else { return registration }
                members["payload"] = ["isWithheld": true, "why": .string(reason)]
                return .object(members)
            })
        return .object(members)
    }
}
