import MartletCore
import MartletModel

/// The elements of a description that state the template of a registration (NotificationHubs.md, section 4.2).
struct TemplateElements {
    let template: Template

    init(_ description: XMLElement, _ descriptor: PushPlatformDescriptor) throws(HubAPIError) {
        guard let body = description.child(Self.body)?.text, !body.trimmed.isEmpty else {
            throw .badRequest("The registration has no \(Self.body)")
        }
        var template = Template(body: body)
        for element in descriptor.registration.templateElements {
            switch element {
            case .name: template.name = description.content(Self.name)
            case .headers(let collection, let item, _, _):
                template.headers = try Self.headers(description.child(collection), item)
            case .option(let name, _, _): template.options[name] = description.content(name)
            }
        }
        self.template = template
    }

    static let body = "BodyTemplate"
    static let name = "TemplateName"
    static let header = "Header"
    static let value = "Value"

    private static func headers(_ collection: XMLElement?, _ item: String) throws(HubAPIError) -> [Template.Header] {
        var headers: [Template.Header] = []
        for element in collection?.children ?? [] where element.name == item {
            guard let name = element.content(header) else { throw .badRequest("A \(item) has no \(header)") }
            headers.append(Template.Header(name: name, value: element.content(value) ?? ""))
        }
        return headers
    }
}

extension TemplateElements {
    /// Writes the elements that state a template. In a description they follow the elements of the handle.
    static func write(
        _ template: Template, _ descriptor: PushPlatformDescriptor, to description: inout XMLWriter
    ) {
        description.element(body, characterData: template.body)
        for element in descriptor.registration.templateElements {
            switch element {
            case .name:
                if let text = template.name { description.element(name, text: text) }
            case .option(let name, _, let isAlwaysWritten):
                if let text = template.options[name] {
                    description.element(name, text: text)
                } else if isAlwaysWritten {
                    description.emptyElement(name, ["i:nil": "true"])
                }
            case .headers(let collection, let item, _, let isAlwaysWritten):
                if !template.headers.isEmpty {
                    description.element(collection) { list in
                        for header in template.headers { write(header, as: item, to: &list) }
                    }
                } else if isAlwaysWritten {
                    description.emptyElement(collection)
                }
            }
        }
    }

    private static func write(_ content: Template.Header, as item: String, to list: inout XMLWriter) {
        list.element(item) { element in
            element.element(header, text: content.name)
            element.element(value, text: content.value)
        }
    }
}
