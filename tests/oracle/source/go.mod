module osso.example/oracle

go 1.21
