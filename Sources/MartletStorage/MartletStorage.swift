import CMartletSQLite

func probe() { _ = sqlite3_libversion() }
