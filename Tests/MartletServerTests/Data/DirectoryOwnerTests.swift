import Glibc
import Testing

@testable import MartletServer

struct DirectoryOwnerTests {
    @Test(
        arguments: [(0, 0, false), (0, 65534, true), (65534, 65534, false), (1000, 65534, false)]
            as [(uid_t, uid_t, Bool)])
    func onlyRootOnTheDirectoryOfAnotherUserIsForeign(process: uid_t, owner: uid_t, isForeign: Bool) {
        let directory = DirectoryOwner(user: owner, group: 0)
        #expect(directory.isForeignRoot(process) == isForeign)
        #expect((directory.refusalToServe("/data", as: process) != nil) == isForeign)
    }

    @Test func theRefusalToServeNamesTheOwner() {
        let refusal = DirectoryOwner(user: 65534, group: 65534).refusalToServe("/data", as: 0)
        #expect(
            refusal?.description
                == "'/data' belongs to nobody: serve as that user (systemctl start martlet), not as root.")
    }

    @Test func theRefusalToAdministerNamesWhoMay() {
        let owners = [DirectoryOwner(user: 0, group: 0), DirectoryOwner(user: 65534, group: 0)]
        #expect(
            owners.map { $0.refusalToAdminister("/data", hasGroupSocket: false).description } == [
                "Only root may administer /data: use sudo.", "Only root and nobody may administer /data: use sudo.",
            ])
        #expect(
            owners[1].refusalToAdminister("/data", hasGroupSocket: true).description
                == "Only root and nobody may administer /data: use sudo, or join the group root.")
    }

    @Test func onlyOfANewDirectoryOfRootIsSaidThatAServiceCannotUseIt() {
        #expect(DirectoryOwner(user: 65534, group: 65534).advice(onNew: "/data") == nil)
        #expect(
            DirectoryOwner(user: 0, group: 0).advice(onNew: "/data")
                == "/data belongs to root: a service that runs as another user cannot use it (chown -R martlet: /data)."
        )
    }

    @Test func aUserWithoutANameIsNamedByNumber() {
        #expect(DirectoryOwner(user: 4_000_000_123, group: 0).name == "4000000123")
    }

    @Test func aMissingDirectoryHasNoOwner() {
        #expect(DirectoryOwner(of: "/nonexistent/data") == nil)
    }
}
