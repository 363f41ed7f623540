/// A text in the XML form in which the server sends it to Microsoft's services. No other form of XML is read.
struct Toast: Hashable {
    let text: String
    /// The server's id of the notification; nil if the toast does not contain it.
    let id: String?

    /// - Returns: nil if the payload does not have the form of the server's toasts.
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
    /// The text between the first occurrence of `begin` and the next occurrence of `end`.
    fileprivate func between(_ begin: String, _ end: String) -> Substring? {
        guard let begin = firstRange(of: begin), let end = self[begin.upperBound...].firstRange(of: end) else {
            return nil
        }
        return self[begin.upperBound..<end.lowerBound]
    }
}
