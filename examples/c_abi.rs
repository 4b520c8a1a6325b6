// The gradient of a slice from Rust, through the C interface, without a crate.
//
//     rustc c_abi.rs -L <folder of libbackslice.so> && ./c_abi
//
// x is a 4 x 5 tensor, y = x[1:3, ::2] and dy its gradient; dx becomes dy where y was taken from, and zero elsewhere.
use std::ffi::{c_char, c_void, CStr};
use std::ptr::{null, null_mut};

#[repr(C)]
struct Ints {
    data: *const i64,
    size: i64,
}

#[repr(C)]
struct Text {
    data: *const c_char,
    size: i64,
}

#[repr(C)]
struct View {
    struct_size: usize,
    data: *mut c_void,
    dtype: i32,
    rank: i32,
    shape: *const i64,
    strides: *const i64,
    item_size: i64,
    device_type: i32,
    device_id: i32,
}

const FLOAT32: i32 = 17;
const CPU: i32 = 1;
const OVERWRITE: i32 = 0;

#[link(name = "backslice")]
extern "C" {
    fn backslice_last_error() -> *const c_char;
    fn backslice_selection_from_index(shape: Ints, index: Text, out: *mut *mut c_void) -> i32;
    fn backslice_slice_grad_into(
        selection: *const c_void,
        dy: *const View,
        out: *const View,
        write: i32,
        context: *const c_void,
    ) -> i32;
    fn backslice_free(handle: *mut c_void);
}

/// A selection that ends with its scope.
struct Selection(*mut c_void);

impl Selection {
    fn from_index(shape: &[i64], index: &str) -> Result<Selection, String> {
        let mut handle = null_mut();
        let shape = Ints { data: shape.as_ptr(), size: shape.len() as i64 };
        let index = Text { data: index.as_ptr() as *const c_char, size: index.len() as i64 };
        checked(unsafe { backslice_selection_from_index(shape, index, &mut handle) })?;
        Ok(Selection(handle))
    }

    fn gradient(&self, dy: &[f32], dy_shape: &[i64], dx: &mut [f32], dx_shape: &[i64]) -> Result<(), String> {
        let dy = view(dy.as_ptr(), dy_shape);
        let dx = view(dx.as_mut_ptr(), dx_shape);
        checked(unsafe { backslice_slice_grad_into(self.0, &dy, &dx, OVERWRITE, null()) })
    }
}

impl Drop for Selection {
    fn drop(&mut self) {
        unsafe { backslice_free(self.0) }
    }
}

fn view(data: *const f32, shape: &[i64]) -> View {
    View {
        struct_size: std::mem::size_of::<View>(),
        data: data as *mut c_void,
        dtype: FLOAT32,
        rank: shape.len() as i32,
        shape: shape.as_ptr(),
        strides: null(),
        item_size: 0,
        device_type: CPU,
        device_id: 0,
    }
}

/// A code as a Result, with the message of the library.
fn checked(code: i32) -> Result<(), String> {
    if code == 0 {
        return Ok(());
    }
    Err(unsafe { CStr::from_ptr(backslice_last_error()) }.to_string_lossy().into_owned())
}

fn main() -> Result<(), String> {
    let rows = Selection::from_index(&[4, 5], "1:3, ::2")?;
    let mut dx = [-1f32; 20];
    rows.gradient(&[1., 2., 3., 4., 5., 6.], &[2, 3], &mut dx, &[4, 5])?;
    let expected = [0., 0., 0., 0., 0., 1., 0., 2., 0., 3., 4., 0., 5., 0., 6., 0., 0., 0., 0., 0.];
    assert_eq!(dx, expected);
    for row in dx.chunks(5) {
        println!("{row:?}");
    }

    let refused = rows.gradient(&[1., 2.], &[2], &mut dx, &[4, 5]).unwrap_err();
    assert!(refused.contains("shape of dy"), "{refused}");
    println!("refused: {refused}");
    Ok(())
}
