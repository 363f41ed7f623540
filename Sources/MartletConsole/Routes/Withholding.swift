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

    /// Removes the payloads from a trace.
    static func withoutPayloads(trace: JSON) -> JSON {
        guard case .object(var members) = trace, let registrations = members["registrations"]?.array else {
            return trace
        }
        members["registrations"] = .array(
            registrations.map { registration in
                guard case .object(var members) = registration, let payload = members["payload"] else {
                    return registration
                }
                var shown = removing(["appearance", "base64", "body"], from: payload).object ?? [:]
                shown["isWithheld"] = true
                members["payload"] = .object(shown)
                return .object(members)
            })
        return .object(members)
    }
}
