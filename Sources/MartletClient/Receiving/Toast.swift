/// A text that the server sends to WNS or MPNS as XML. XML in any other form than the server's is not read.
struct Toast: Hashable {
    /// The first line of a toast that has more than one; nil otherwise.
    let title: String?
    let text: String
    /// The server's id of the notification; nil if the toast does not contain it.
    let id: String?

    /// Reads the payload of a push.
    /// - Returns: nil if the payload does not have the form of the server's toasts.
    init?(_ payload: [UInt8]) {
        let body = String(decoding: payload, as: UTF8.self)
        if body.hasPrefix("<toast") {
            self.init(body.elements("text"), id: body.between(" launch=\"notificationId=", "\""))
        } else if body.contains("<wp:Toast>") {
            self.init(
                body.elements("wp:Text1") + body.elements("wp:Text2"),
                id: body.between("<wp:Param>/?notificationId=", "</wp:Param>"))
        } else {
            return nil
        }
    }

    /// Creates a toast from its lines; nil if there are none.
    /// - Parameter id: A text that begins with the notification's id. Other parameters of the toast may follow, each
    ///   after `&`.
    private init?(_ lines: [String], id: Substring?) {
        guard let text = lines.last else { return nil }
        title = lines.count > 1 ? lines.first : nil
        self.text = text
        self.id = id?.split(separator: "&", maxSplits: 1).first.map(String.init)
    }
}

extension String {
    /// Returns the text between the first occurrence of `begin` and the next occurrence of `end`; nil if there is none.
    fileprivate func between(_ begin: String, _ end: String) -> Substring? {
        guard let begin = firstRange(of: begin), let end = self[begin.upperBound...].firstRange(of: end) else {
            return nil
        }
        return self[begin.upperBound..<end.lowerBound]
    }

    /// Returns the texts of all elements with a name. The elements must not contain other elements.
    fileprivate func elements(_ name: String) -> [String] {
        var texts: [String] = []
        var rest = self[...]
        while let begin = rest.firstRange(of: "<\(name)") {
            rest = rest[begin.upperBound...]
            guard rest.first == ">" || rest.first == " " else { continue }
            guard let start = rest.firstIndex(of: ">"), let end = rest.firstRange(of: "</\(name)>") else { break }
            guard start < end.lowerBound else { break }
            texts.append(
                String(rest[rest.index(after: start)..<end.lowerBound]).replacing("&lt;", with: "<")
                    .replacing("&gt;", with: ">").replacing("&amp;", with: "&"))
            rest = rest[end.upperBound...]
        }
        return texts
    }
}
