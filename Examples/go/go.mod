module sidelight.example/go

go 1.19
