/// A text as the server sends it to Microsoft's services, which take XML. Reads that form and no other.
struct Toast: Hashable {
    let text: String
    /// The id under which the server delivers it; nil where it does not tell.
    let id: String?

    /// - Returns: nil for anything else.
    init?(_ payload: [UInt8]) {
        let body = String(decoding: payload, as: UTF8.self)
        if body.hasPrefix("<toast"), let text = body.between("<text id=\"1\">", "</text>") {
            self.init(text, id: body.between(" launch=\"notificationId=", "\""))
        } else if body.contains("<wp:Toast>"), let text = body.between("<wp:Text1>", "</wp:Text1>") {
            self.init(text, id: body.between("<wp:Param>/?notificationId=", "</wp:Param>"))
        } else {
            return nil
        }
    }

    private init(_ text: Substring, id: Substring?) {
        self.text = String(text).replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
        self.id = id.map(String.init)
    }
}

extension String {
    /// What is between the first of one text and the next of another.
    fileprivate func between(_ begin: String, _ end: String) -> Substring? {
        guard let begin = firstRange(of: begin), let end = self[begin.upperBound...].firstRange(of: end) else {
            return nil
        }
        return self[begin.upperBound..<end.lowerBound]
    }
}
