import MartletModel

/// Encodes a template as bytes; equal templates give equal bytes.
///
/// The format is a list of texts: the body, the number of headers, the name and value of each header in order, the name
/// and value of each option, and at the end the template's name if it has one.
enum TemplateCoding {
    static func encode(_ template: Template) -> [UInt8] {
        TextListCoding.encode(
            [template.body, String(template.headers.count)] + template.headers.flatMap { [$0.name, $0.value] }
                + StringMapCoding.texts(of: template.options) + (template.name.map { [$0] } ?? []))
    }

    /// Decodes a template; nil if the bytes were not written by `encode`.
    static func decode(_ bytes: [UInt8]) -> Template? {
        guard let texts = TextListCoding.decode(bytes), texts.count >= 2, let headerCount = Int(texts[1]),
            (0...texts.count).contains(headerCount), texts.count >= 2 + 2 * headerCount
        else { return nil }
        let headers = (0..<headerCount).map { Template.Header(name: texts[2 + 2 * $0], value: texts[3 + 2 * $0]) }
        let rest = texts[(2 + 2 * headerCount)...]
        // An option is a pair of texts, so if the number of the remaining texts is odd, the last one is the template's
        // name.
        let name = rest.count.isMultiple(of: 2) ? nil : rest.last
        guard let options = StringMapCoding.map(of: rest.dropLast(name == nil ? 0 : 1)) else { return nil }
        return Template(name: name, body: texts[0], headers: headers, options: options)
    }
}
