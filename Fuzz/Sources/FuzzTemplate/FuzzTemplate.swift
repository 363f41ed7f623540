import FuzzDriver

@testable import MartletHubAPI
@testable import MartletModel

/// Input: a template and the values of its properties, separated by NUL. Checks that an accepted template renders to JSON
/// or XML that a parser accepts, within the size limit, and to header fields without control characters.
@main
struct FuzzTemplate {
    static func main() {
        fuzz { bytes, count in
            let input = Array(UnsafeBufferPointer(start: bytes, count: count))
            _ = try? TemplateProperties(parsing: input)
            let parts = input.split(separator: 0, omittingEmptySubsequences: false).map {
                String(decoding: $0, as: UTF8.self)
            }
            for format in [TemplateFormat.json, .xml, .text] {
                let body = parts[0]
                let template = Template(
                    body: body, headers: [Template.Header(name: "x", value: String(body.prefix(64)))],
                    options: ["Expiry": parts[parts.count - 1]])
                for template in [template, Template(body: body)] {
                    guard let compiled = try? CompiledTemplate(template, format: format) else { continue }
                    FuzzTemplate.check(compiled, values: parts.dropFirst())
                }
            }
            return 0
        }
    }

    private static func check(_ template: CompiledTemplate, values: ArraySlice<String>) {
        let named = Dictionary(uniqueKeysWithValues: zip(template.propertyNames.sorted(), values))
        guard let rendered = try? template.render(TemplateProperties(named), variables: ["A": "variable"]) else {
            return
        }
        precondition(rendered.body.count <= RenderedTemplate.sizeLimit, "a rendering keeps its limit")
        precondition(String(validating: rendered.body, as: UTF8.self) != nil, "a rendering is UTF-8")
        for value in rendered.headers.map(\.value) + rendered.options.values {
            precondition(value.utf8.allSatisfy { $0 >= 0x20 || $0 == 0x09 }, "a header has no control characters")
        }
        switch template.format {
        case .json:
            precondition((try? JSON(parsing: rendered.body)) != nil, "a JSON template makes JSON")
        case .xml:
            precondition((try? TemplateBody.expressions(inXML: rendered.body)) != nil, "an XML template makes XML")
            checkWithLibrary(rendered.body)
        case .text: return
        }
    }

    /// Checks that libxml2 accepts all XML that the scanner of this project considers well-formed.
    private static func checkWithLibrary(_ document: [UInt8]) {
        // Documents with namespaces are left out: libxml2 checks their rules, which the scanner does not.
        guard !String(decoding: document, as: UTF8.self).contains("xmlns") else { return }
        do {
            _ = try XMLReader(depthLimit: 128, elementLimit: 65_536, attributeLimit: 65_536).read(document)
        } catch {
            preconditionFailure("libxml2 refuses what a template made: \(error)")
        }
    }
}
