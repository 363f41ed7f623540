import CMartletXML2

func probe() { xmlInitParser() }
