import MartletHTTP

/// Serves the files of the console's pages. A path that does not name a file is answered with `index.html`, which shows
/// every screen.
struct AssetRoutes: Sendable {
    let assets: ConsoleAssets

    /// Returns the file or the page that a request asks for.
    /// - Parameter segments: The path segments below `/console`.
    func respond(to request: HTTPRequest, _ segments: ArraySlice<String>) -> HTTPResponse {
        guard [.get, .head].contains(request.method) else {
            return HTTPResponse(.methodNotAllowed, fields: ["allow": "GET, HEAD"])
        }
        if let asset = assets.asset(at: segments) { return Self.respond(to: request, with: asset) }
        // If the path has the ending of a file type but the file does not exist, the answer is 404: a browser that asks
        // for a script must not get a page.
        guard let last = segments.last, ConsoleAsset.contentType(of: last) != nil else {
            return assets.page.map { Self.respond(to: request, with: $0) } ?? HTTPResponse(.notFound)
        }
        return HTTPResponse(.notFound)
    }

    private static func respond(to request: HTTPRequest, with asset: ConsoleAsset) -> HTTPResponse {
        var fields: HTTPFields = ["etag": asset.tag, "cache-control": "no-cache"]
        let known = request.fields.values(of: "if-none-match").flatMap { $0.split(separator: ",") }
        if known.contains(where: { tag(in: $0) == asset.tag }) { return HTTPResponse(304, fields: fields) }
        fields["content-type"] = asset.contentType
        var response = HTTPResponse(.ok, fields: fields, body: .bytes(asset.bytes))
        response.isShared = true
        return response
    }

    /// Returns the entity tag in an item of `If-None-Match`.
    ///
    /// The prefix `W/` is removed, because tags are compared weakly.
    private static func tag(in item: Substring) -> Substring {
        let text = item.drop { $0 == " " }
        return text.hasPrefix("W/") ? text.dropFirst(2) : text
    }
}
