import MartletCore
import MartletModel

/// Encodes templates and push variables as the values of `contents`. Equal templates give equal bytes, and so do equal
/// push variables.
enum ContentCoding {
    static func encode(_ template: Template) -> [UInt8] {
        var list = ByteList()
        list.add(template.name)
        list.add(template.body)
        list.add(Int64(template.headers.count))
        for header in template.headers {
            list.add(header.name)
            list.add(header.value)
        }
        return list.bytes + ByteList.bytes(of: template.options)
    }

    static func template(_ bytes: [UInt8]) throws(StorageError) -> Template {
        var reader = ByteListReader(bytes)
        let name = reader.text()
        guard let body = reader.text(), let count = reader.integer(), (0...Int64(bytes.count)).contains(count) else {
            throw unreadable
        }
        var headers: [Template.Header] = []
        for _ in 0..<count {
            guard let name = reader.text(), let value = reader.text() else { throw unreadable }
            headers.append(Template.Header(name: name, value: value))
        }
        guard let options = reader.map() else { throw unreadable }
        return Template(name: name, body: body, headers: headers, options: options)
    }

    static func encode(_ variables: [String: String]) -> [UInt8] { ByteList.bytes(of: variables) }

    static func variables(_ bytes: [UInt8]) throws(StorageError) -> [String: String] {
        guard let variables = ByteListReader.map(bytes) else { throw unreadable }
        return variables
    }

    static var unreadable: StorageError {
        StorageError(.corrupt, "A stored template or its variables cannot be read; restore a backup.")
    }
}
