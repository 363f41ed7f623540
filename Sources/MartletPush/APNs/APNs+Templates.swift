public import MartletCore
public import MartletModel

extension APNs {
    /// The names of the options that a template for Apple devices may have besides its body and its headers.
    enum Option {
        static let expiry = "Expiry"
        static let priority = "Priority"
    }

    public static func checked(_ template: Template) throws(PushServiceError) -> Template {
        if let expiry = template.options[Option.expiry], !TemplateRules.isExpression(expiry),
            APNsExpiry.seconds(expiry) == nil
        {
            throw PushServiceError(.badTemplate, "Expiry must be a date, 0 or an expression.")
        }
        if let priority = template.options[Option.priority], !TemplateRules.isExpression(priority),
            UInt8(priority) == nil
        {
            throw PushServiceError(.badTemplate, "Priority must be a whole number from 0 to 255.")
        }
        return template
    }

    /// Returns the payload limit, in bytes, of the push type that the template's headers state. The header
    /// `apns-push-type` decides. If it is missing, the suffix of the header `apns-topic` decides.
    ///
    /// If the header's value is an expression, the push type is unknown until the template is rendered. The result is
    /// then the largest limit of any type.
    public static func payloadLimit(of template: Template) -> Int {
        let stated = ["push-type", "topic"].lazy.compactMap { name in
            template.headers.first { ["apns-\(name)", "x-apns-\(name)"].contains($0.name.lowercased()) }
                .map { (name, $0.value) }
        }.first
        guard let (name, value) = stated else { return APNsPushType.alert.payloadLimit }
        if TemplateRules.isExpression(value) { return descriptor.payloadLimit }
        let type = name == "topic" ? APNsPushType(suffixOf: value) : APNsPushType(rawValue: value.lowercased())
        return (type ?? .alert).payloadLimit
    }
}
