import MartletCore
import MartletModel

/// An access rule in a description of a hub. The server sets the rule's times, so times in a client's document are
/// ignored.
struct AccessRuleDocument {
    let name: String
    private let rights: AccessRights
    private let primaryKey: String?
    private let secondaryKey: String?

    private static let type = "SharedAccessAuthorizationRule"
    /// The rights in the order in which documents list them.
    private static let rightNames: [(name: String, right: AccessRights)] = [
        ("Listen", .listen), ("Manage", .manage), ("Send", .send),
    ]

    init(_ element: XMLElement) throws(HubAPIError) {
        guard element.attributes["type"].map({ $0.split(separator: ":").last ?? "" }) ?? "" == Self.type else {
            throw .badRequest("An access rule must be a \(Self.type) (i:type)")
        }
        guard let name = element.child("KeyName")?.value else { throw .badRequest("An access rule has no KeyName") }
        var rights: AccessRights = []
        for right in element.child("Rights")?.children ?? [] {
            guard let known = Self.rightNames.first(where: { $0.name == right.value }) else {
                throw .badRequest("An access right is one of \(Self.rightNames.map(\.name).joined(separator: ", "))")
            }
            rights.insert(known.right)
        }
        self.name = name
        self.rights = rights
        primaryKey = element.child("PrimaryKey")?.value
        secondaryKey = element.child("SecondaryKey")?.value
    }

    /// Returns the rule that the document describes. If the document lacks a key, the old rule's key is kept; if there
    /// is no old rule, a key is generated.
    func rule(replacing old: AccessRule?, at now: Timestamp) -> AccessRule {
        var rule = old ?? AccessRule(name: name, rights: rights, at: now)
        rule.rights = rights
        rule.primaryKey = primaryKey ?? rule.primaryKey
        rule.secondaryKey = secondaryKey ?? rule.secondaryKey
        if rule != old { rule.modifiedAt = now }
        return rule
    }

    /// Writes a rule with its keys, because clients read the keys. Only a caller that may manage the hub gets this
    /// document.
    static func write(_ rule: AccessRule, to rules: inout XMLWriter) {
        rules.element("AuthorizationRule", ["i:type": type]) { element in
            element.element("ClaimType", text: "SharedAccessKey")
            element.element("ClaimValue", text: "None")
            element.element("Rights") { rights in
                for (name, right) in rightNames where rule.rights.contains(right) {
                    rights.element("AccessRights", text: name)
                }
            }
            element.element("CreatedTime", text: rule.createdAt.ticksText)
            element.element("ModifiedTime", text: rule.modifiedAt.ticksText)
            element.element("KeyName", text: rule.name)
            element.element("PrimaryKey", text: rule.primaryKey)
            element.element("SecondaryKey", text: rule.secondaryKey)
        }
    }
}

extension Timestamp {
    /// The timestamp in ISO 8601 with seven decimals of a second, as the original service writes it.
    fileprivate var ticksText: String { "\(iso8601.dropLast())0000Z" }
}
