import MartletHTTP
import MartletModel

/// Removes from answers the data that an operator may not see.
enum Withholding {
    /// Removes the named members from an object, or from each object in an array.
    static func removing(_ names: Set<String>, from json: JSON) -> JSON {
        switch json {
        case .object(let members): .object(members.filter { !names.contains($0.key) })
        case .array(let elements): .array(elements.map { removing(names, from: $0) })
        default: json
        }
    }

    /// Shortens a handle to its first and last 4 characters.
    ///
    /// If the handle is a URL, its origin and last 6 characters are kept. If a handle is no URL and has at most 12
    /// characters, only its first 2 characters are kept.
    static func masked(_ handle: String) -> String {
        if let (origin, rest) = HTTPOrigin.splitting(handle) { return "\(origin)/…\(rest.suffix(6))" }
        guard handle.count > 12 else { return String(handle.prefix(2)) + "…" }
        return "\(handle.prefix(4))…\(handle.suffix(4))"
    }

    /// Masks the handles of devices at every depth of a document.
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

    /// Removes from a trace the tags that name a person or a device, for a reader who may not list users.
    ///
    /// An expression or a sentence with such a tag is removed whole, because it may name more persons than the owner of
    /// the device. The member `isToOneUser` then explains why there is no expression.
    static func withoutNames(trace: JSON) -> JSON {
        guard case .object(var members) = trace, let registrations = members["registrations"]?.array else {
            return trace
        }
        members["explanation"] = members["explanation"]?.array.map { sentences in
            .array(sentences.filter { !PersonalAudience.isNamed(in: $0.string ?? "") })
        }
        members["registrations"] = .array(
            registrations.map { registration in
                guard case .object(var members) = registration, let expression = members["expression"]?.string,
                    PersonalAudience.isNamed(in: expression)
                else { return registration }
                members["expression"] = nil
                members["isToOneUser"] = true
                members["decidedBy"] = members["decidedBy"]?.array.map { terms in
                    .array(terms.filter { !PersonalAudience.isNamed(in: $0["tag"]?.string ?? "") })
                }
                return .object(members)
            })
        return .object(members)
    }

    /// Removes, from a page of dead letters, the members that name devices and the position of the next page.
    static func withoutDevices(deadLetters page: JSON) -> JSON {
        guard case .object(var members) = page else { return page }
        members["deadLetters"] = members["deadLetters"].map { removing(["registration", "installation"], from: $0) }
        members["continuation"] = nil
        return .object(members)
    }

    /// Removes the payloads from a trace, including their digests and sizes.
    ///
    /// The digest is removed, because short content could be guessed from it.
    /// - Parameter reason: The reason for the removal, which the page shows to the operator.
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
