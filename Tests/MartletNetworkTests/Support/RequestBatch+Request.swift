import MartletHTTP

extension RequestBatch {
    /// One item as a single request.
    func request(_ item: Int) -> HTTPRequest {
        let path = withPath(item) { String(decoding: $0, as: UTF8.self) }
        var request = HTTPRequest(shared.method, shared.pathPrefix + path, fields: shared.fields)
        for (index, name) in shared.itemFieldNames.enumerated() {
            let value = withValue(index, of: item) { String(decoding: $0, as: UTF8.self) }
            request.fields.append(HTTPField(name, value, indexing: .never))
        }
        request.body = withBody(item) { Array($0) }
        return request
    }
}
