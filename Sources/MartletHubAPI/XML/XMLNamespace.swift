/// The namespaces of the hub's documents, exactly as written (NotificationHubs.md, section 0).
enum XMLNamespace {
    static let atom = "http://www.w3.org/2005/Atom"
    static let service = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
    static let instance = "http://www.w3.org/2001/XMLSchema-instance"
    static let metadata = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
    static let arrays = "http://schemas.microsoft.com/2003/10/Serialization/Arrays"
}
